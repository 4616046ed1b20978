// From 32 addresses to memory: which region, which pattern, all lanes inside and aligned. What passes may be
// touched.
#pragma once

#include "harness/device/cpu/runtime/warp_context.h"

#include <bit>
#include <cstdint>

namespace assay::cpu {

inline constexpr unsigned octet_lanes = 8, octet_count = warp_lanes / octet_lanes;

struct Checked {
  Region* region = nullptr;
  Pattern pattern = Pattern::scattered;
  std::int64_t base = 0;                    // region offset of AddressShape::base
  const std::uint64_t* addresses = nullptr; // lane i stands at offset addresses[i] - origin
  std::uint64_t origin = 0;
  std::int64_t lane_stride = 0;   // local memory: added once a lane
  std::int64_t low = 0, span = 0; // all lanes lie in [low, low + span); span 0: not known

  std::int64_t offset_of(unsigned lane, unsigned size) const {
    switch (pattern) {
    case Pattern::consecutive:
      return base + static_cast<std::int64_t>(lane) * size;
    case Pattern::uniform:
      return base + lane * lane_stride;
    case Pattern::octets:
    case Pattern::scattered:
      break;
    }
    return static_cast<std::int64_t>(addresses[lane] - origin) + lane * lane_stride;
  }
  // Pattern::octets: whether the eight lanes from 8 * octet on are all at one place.
  bool one_place(unsigned octet) const {
    return addresses[octet_lanes * octet] == addresses[octet_lanes * octet + 1];
  }
};

enum class Direction : std::uint8_t { load, store, atomic };

// The name that a fault gives the region.
std::string fault_buffer(const Region& region);

// Faults of an access; they end the launch.
[[noreturn]] void report_outside(WarpContext& context, const Access& access, Direction direction,
                                 unsigned lane, std::uint64_t address);
[[noreturn]] void report_misaligned(WarpContext& context, const Access& access, Direction direction,
                                    unsigned lane, std::uint64_t address);
// Finds the first lane that is outside, misaligned or in another region; reports it, or returns the lanes
// that share the first lane's region when all of those are right.
std::uint32_t sort_out_lanes(WarpContext& context, std::uint32_t lanes, const Access& access,
                             Direction direction, const std::uint64_t* addresses);

// The region an address lies in, as this access's space reads it, and the address of its offset 0.
struct Target {
  Region* region;
  std::uint64_t origin;
};
inline Target target_of(WarpContext& context, Space space, std::uint64_t address) {
  switch (space) {
  case Space::shared:
    return {&context.block->shared, 0};
  case Space::local:
    return {&context.local, 0};
  case Space::param:
    return {&context.launch->parameters, 0};
  default:
    break;
  }
  const std::uint64_t slot = address >> slot_shift;
  const std::uint64_t origin = generic_address(slot, 0);
  if (slot >= first_buffer_slot) return {&context.launch->memory.at(slot), origin};
  switch (slot) {
  case shared_slot:
    return {&context.block->shared, origin};
  case local_slot:
    return {&context.local, origin};
  case param_slot:
    return {&context.launch->parameters, origin};
  default:
    return {&context.launch->memory.at(null_slot), origin};
  }
}

// Fills in what follows address_bits; at least one lane executes.
void find_shape(AddressShape& shape);

// Whether all lanes lie in one region, or one piece of it, and aligned, at the shape's addresses plus
// `offset`; fills in where. False also where that would take a closer look.
inline bool reaches(WarpContext& context, const Access& access, const AddressShape& shape,
                    std::uint64_t offset, Checked& at) {
  const Target target = target_of(context, access.space, shape.low + offset);
  const std::uint64_t origin = target.origin - offset;
  const auto from = static_cast<std::int64_t>(shape.low - origin);
  const auto to = static_cast<std::int64_t>(shape.high - origin) + std::int64_t{shape.bytes};
  if (to <= from || ((shape.bits | offset) & (shape.bytes - 1)) != 0) return false; // to: wraps around
  if (!target.region->inside(from, to) && !target.region->enter_piece(from, to)) return false;
  at = {target.region,
        shape.pattern,
        static_cast<std::int64_t>(shape.base - origin),
        shape.addresses,
        origin,
        0,
        from,
        to - from};
  if (target.region->kind == RegionKind::local) { // every lane has its own
    if (at.pattern != Pattern::uniform) at.pattern = Pattern::scattered;
    at.lane_stride = context.local_stride;
  }
  return true;
}

// `lanes` is not 0. Shrinks `lanes` to those of one region (generic addresses may name several); the caller
// repeats with the rest.
template <unsigned Size>
inline Checked check_access(WarpContext& context, std::uint32_t& lanes, const Access& access,
                            Direction direction, const std::uint64_t* addresses) {
  AddressShape shape{addresses, lanes, Size, 64, Pattern::scattered, 0, 0, 0, 0};
  find_shape(shape);
  Checked at;
  if (reaches(context, access, shape, 0, at)) [[likely]]
    return at;
  lanes = sort_out_lanes(context, lanes, access, direction, addresses);
  const Target target = target_of(context, access.space, addresses[std::countr_zero(lanes)]);
  at.region = target.region;
  at.addresses = addresses;
  at.origin = target.origin;
  if (target.region->kind == RegionKind::local) at.lane_stride = context.local_stride;
  return at;
}

} // namespace assay::cpu
