#include "harness/device/cpu/runtime/device_text.h"

#include "harness/device/cpu/runtime/access.h"

#include <cstring>

namespace assay::cpu {

std::string read_text(WarpContext& context, std::uint64_t address) {
  std::string text;
  for (unsigned i = 0; i < 1024; ++i) {
    const std::optional<std::uint64_t> byte = read_bits(context, 0, address + i, 1);
    if (!byte) return "(unreadable)";
    if (*byte == 0) return text;
    text.push_back(static_cast<char>(*byte));
  }
  return text;
}

std::optional<std::uint64_t> read_bits(WarpContext& context, unsigned lane, std::uint64_t address,
                                       unsigned bytes) {
  const Target target = target_of(context, Space::generic, address);
  const auto offset = static_cast<std::int64_t>(address - target.origin);
  const std::int64_t end = offset + static_cast<std::int64_t>(bytes);
  if (!target.region->inside(offset, end) && !target.region->enter_piece(offset, end)) return std::nullopt;
  const std::int64_t lane_offset =
      target.region->kind == RegionKind::local ? std::int64_t{lane} * context.local_stride : 0;
  std::uint64_t value = 0;
  std::memcpy(&value, target.region->data + offset + lane_offset, bytes);
  return value;
}

} // namespace assay::cpu
