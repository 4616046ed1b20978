#include "harness/device/cpu/runtime/earlier_values.h"

#include "harness/device/cpu/runtime/access.h"
#include "harness/device/cpu/runtime/byte_bits.h"

#include <bit>
#include <cstring>

namespace assay::cpu {
namespace {

constexpr std::size_t most_values = 256; // of a segment; those that come later are not kept

bool defined(const Region& region, std::int64_t offset, unsigned bytes) {
  return !region.undefined || !any_in_element(region.undefined, static_cast<std::size_t>(offset), bytes);
}

} // namespace

EarlierValues::Value* EarlierValues::find_(const Region& region, std::int64_t offset, unsigned bytes) {
  for (Value& value : values_)
    if (value.offset == offset && value.bytes == bytes && value.region == &region) return &value;
  return nullptr;
}

void EarlierValues::store(const WarpContext& context, std::uint32_t lanes, const Checked& at,
                          unsigned bytes) {
  if (segment_ != context.segment) forget();
  segment_ = context.segment;
  if (bytes > sizeof(Value::before)) return;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::int64_t offset = at.offset_of(lane, bytes);
    if (Value* value = find_(*at.region, offset, bytes)) {
      value->barred |= 1u << lane;
    } else if (values_.size() < most_values && defined(*at.region, offset, bytes)) {
      values_.push_back({at.region, offset, bytes, 1u << lane, {}});
      std::memcpy(values_.back().before.data(), at.region->data + offset, bytes);
    }
  }
}

void EarlierValues::load(WarpContext& context, std::uint32_t lanes, const Checked& at, unsigned bytes,
                         unsigned element_bytes, std::byte* values) {
  if (segment_ != context.segment) forget();
  if (values_.empty()) return;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::int64_t offset = at.offset_of(lane, bytes);
    Value* value = find_(*at.region, offset, bytes);
    if (!value || (value->barred >> lane & 1) != 0) continue;
    if (!defined(*at.region, offset, bytes) || context.launch->interleaving.random.below(2) == 0) {
      value->barred |= 1u << lane;
      continue;
    }
    for (unsigned v = 0; v * element_bytes < bytes; ++v)
      std::memcpy(values + (std::size_t{v} * warp_lanes + lane) * element_bytes,
                  value->before.data() + std::size_t{v} * element_bytes, element_bytes);
  }
}

} // namespace assay::cpu
