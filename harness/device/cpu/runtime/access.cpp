#include "harness/device/cpu/runtime/access.h"

#include "harness/device/cpu/runtime/layout.h"

#include <fmt/format.h>

namespace assay::cpu {
namespace {

const char* verb(Direction direction) {
  switch (direction) {
  case Direction::load:
    return "read";
  case Direction::store:
    return "write";
  case Direction::atomic:
    break;
  }
  return "atomic access";
}

unsigned size_of_access(const Access& access) { return unsigned{access.element_bytes} * access.vector; }

// "(4 bytes past the end of y, f32[8,1024])"
std::string distance_text(const Region& region, std::int64_t offset, unsigned size) {
  std::int64_t begin = region.begin, end = region.end;
  if (const Piece* nearest = nearest_piece(region, offset)) {
    begin = nearest->begin;
    end = nearest->end;
  }
  const std::string what = describe(region, offset);
  if (offset < begin)
    return fmt::format("{} byte{} before the start of {}", begin - offset, begin - offset == 1 ? "" : "s",
                       what);
  const std::int64_t past = offset + static_cast<std::int64_t>(size) - end;
  return fmt::format("{} byte{} past the end of {}", past, past == 1 ? "" : "s", what);
}

std::string outside_text(WarpContext& context, const Access& access, Direction direction, unsigned lane,
                         std::uint64_t address) {
  const Target target = target_of(context, access.space, address);
  const Region& region = *target.region;
  const auto offset = static_cast<std::int64_t>(address - target.origin);
  const unsigned size = size_of_access(access);
  std::string where;
  if (region.kind == RegionKind::none)
    where = address < 4096 ? fmt::format("address {:#x} (a null pointer)", address)
                           : fmt::format("address {:#x} (no buffer is there)", address);
  else if (region.kind == RegionKind::freed)
    where = fmt::format("byte {} of memory that was freed", offset);
  else
    where = fmt::format("{} ({})", element_name(region, offset), distance_text(region, offset, size));
  return fmt::format("out_of_bounds {} of {} byte{} at {} by {}, {}", verb(direction), size,
                     size == 1 ? "" : "s", where, thread_name(context, lane),
                     context.launch->faults.place_text(access.site));
}

std::string misaligned_text(WarpContext& context, const Access& access, Direction direction, unsigned lane,
                            std::uint64_t address) {
  const Target target = target_of(context, access.space, address);
  const unsigned size = size_of_access(access);
  const std::string where = element_name(*target.region, static_cast<std::int64_t>(address - target.origin));
  return fmt::format(
      "misaligned {} of {} bytes at {} (its address is {} byte{} off a multiple of {}) by {}, {}",
      verb(direction), size, where, address % size, address % size == 1 ? "" : "s", size,
      thread_name(context, lane), context.launch->faults.place_text(access.site));
}

} // namespace

std::string fault_buffer(const Region& region) {
  switch (region.kind) {
  case RegionKind::none:
    return "";
  case RegionKind::shared:
    return "shared";
  case RegionKind::local:
    return "local";
  case RegionKind::constant:
    return "const";
  default:
    return region.name;
  }
}

void report_outside(WarpContext& context, const Access& access, Direction direction, unsigned lane,
                    std::uint64_t address) {
  fatal_fault(context, Kind::out_of_bounds, fault_buffer(*target_of(context, access.space, address).region),
              access.site, outside_text(context, access, direction, lane, address));
}

void report_misaligned(WarpContext& context, const Access& access, Direction direction, unsigned lane,
                       std::uint64_t address) {
  fatal_fault(context, Kind::misaligned, fault_buffer(*target_of(context, access.space, address).region),
              access.site, misaligned_text(context, access, direction, lane, address));
}

std::uint32_t sort_out_lanes(WarpContext& context, std::uint32_t lanes, const Access& access,
                             Direction direction, const std::uint64_t* addresses) {
  const unsigned size = size_of_access(access);
  const Region* first = nullptr;
  std::uint32_t same = 0;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t address = addresses[lane];
    const Target target = target_of(context, access.space, address);
    const auto offset = static_cast<std::int64_t>(address - target.origin);
    const std::int64_t end = offset + static_cast<std::int64_t>(size);
    if (!target.region->inside(offset, end) && !target.region->enter_piece(offset, end))
      report_outside(context, access, direction, lane, address);
    if (address & (size - 1)) report_misaligned(context, access, direction, lane, address);
    if (!first) first = target.region;
    if (target.region == first) same |= 1u << lane;
  }
  return same;
}

namespace {

bool regular_octet(const std::uint64_t* addresses, std::uint32_t bytes) {
  const std::uint64_t step = addresses[1] - addresses[0];
  if (step != 0 && step != bytes) return false;
  std::uint64_t off = 0;
  for (unsigned i = 0; i < octet_lanes; ++i) off |= addresses[i] ^ (addresses[0] + i * step);
  return off == 0;
}

void find_extent(AddressShape& shape, unsigned first) {
  const std::uint64_t* addresses = shape.addresses;
  std::uint64_t low = addresses[first], high = low, bits = 0;
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const std::uint64_t a = ((shape.lanes >> i) & 1) != 0 ? addresses[i] : addresses[first];
    low = a < low ? a : low;
    high = a > high ? a : high;
    bits |= a;
  }
  shape.low = low;
  shape.high = high;
  shape.bits = bits;
}

} // namespace

void find_shape(AddressShape& shape) {
  const std::uint64_t* addresses = shape.addresses;
  const auto first = static_cast<unsigned>(std::countr_zero(shape.lanes));
  const auto last = 31 - static_cast<unsigned>(std::countl_zero(shape.lanes));
  const std::uint64_t base = addresses[first] - std::uint64_t{first} * shape.bytes;
  std::uint64_t not_consecutive = 0, not_uniform = 0;
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const std::uint64_t on = std::uint64_t{0} - ((shape.lanes >> i) & 1);
    not_consecutive |= (addresses[i] ^ (base + std::uint64_t{i} * shape.bytes)) & on;
    not_uniform |= (addresses[i] ^ addresses[first]) & on;
  }
  shape.base = shape.low = shape.high = shape.bits = addresses[first];
  shape.pattern = Pattern::uniform;
  if (not_uniform == 0) return;
  if (not_consecutive == 0) {
    shape.pattern = Pattern::consecutive;
    shape.base = base;
    shape.high = addresses[last];
    return;
  }
  shape.pattern = Pattern::scattered;
  if (shape.lanes == ~0u) {
    bool regular = true;
    for (unsigned octet = 0; octet < octet_count && regular; ++octet)
      regular = regular_octet(addresses + octet_lanes * octet, shape.bytes);
    if (regular) shape.pattern = Pattern::octets;
  }
  find_extent(shape, first);
}

void assay_shape(AddressShape* shape, const std::uint64_t* addresses, std::uint32_t lanes,
                 std::uint32_t bytes, std::uint32_t address_bits) {
  *shape = {addresses, lanes, bytes, address_bits, Pattern::scattered, 0, 0, 0, 0};
  if (lanes != 0) find_shape(*shape);
}

} // namespace assay::cpu
