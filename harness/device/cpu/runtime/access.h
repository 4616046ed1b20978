// From 32 addresses to memory: which region, which pattern, all lanes inside and aligned. What passes may be
// touched.
#pragma once

#include "harness/device/cpu/runtime/warp_context.h"

#include <bit>
#include <cstdint>

namespace assay::cpu {

enum class Pattern : std::uint8_t {
  consecutive, // lane i stands at base + i * size; base is the offset that lane 0 would have
  uniform,     // all at base
  scattered,   // lane i at base + offsets[i], offsets relative to the lowest
};

// Of a scattered access of all lanes: whether each half of the warp stands at consecutive places or at one.
enum class Halves : std::uint8_t { neither, regular };

struct Checked {
  Region* region = nullptr;
  Pattern pattern = Pattern::scattered;
  Halves halves = Halves::neither;
  std::int64_t base = 0;                    // region offset, see Pattern
  const std::uint64_t* addresses = nullptr; // scattered: offset of lane i is addresses[i] - origin
  std::uint64_t origin = 0;
  std::int64_t lane_stride = 0;   // local memory: added once a lane
  std::int64_t low = 0, span = 0; // all lanes lie in [low, low + span); span 0: not known

  std::int64_t offset_of(unsigned lane, unsigned size) const {
    switch (pattern) {
    case Pattern::consecutive:
      return base + static_cast<std::int64_t>(lane) * size;
    case Pattern::uniform:
      return base + lane * lane_stride;
    case Pattern::scattered:
      break;
    }
    return static_cast<std::int64_t>(addresses[lane] - origin) + lane * lane_stride;
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

template <unsigned Size> inline bool regular_half(const std::uint64_t* addresses) {
  const std::uint64_t step = addresses[1] - addresses[0];
  if (step != 0 && step != Size) return false;
  std::uint64_t off = 0;
  for (unsigned i = 0; i < 16; ++i) off |= addresses[i] ^ (addresses[0] + i * step);
  return !off;
}

// `lanes` is not 0. Shrinks `lanes` to those of one region (generic addresses may name several); the caller
// repeats with the rest.
template <unsigned Size>
inline Checked check_access(WarpContext& context, std::uint32_t& lanes, const Access& access,
                            Direction direction, const std::uint64_t* addresses) {
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const auto last = 31 - static_cast<unsigned>(std::countl_zero(lanes));
  const std::uint64_t base = addresses[first] - std::uint64_t{first} * Size;
  std::uint64_t not_consecutive = 0, not_uniform = 0;
  if (lanes == ~0u) {
    for (unsigned i = 0; i < warp_lanes; ++i)
      not_consecutive |= addresses[i] ^ (base + std::uint64_t{i} * Size);
    if (not_consecutive)
      for (unsigned i = 0; i < warp_lanes; ++i) not_uniform |= addresses[i] ^ addresses[0];
  } else {
    for (unsigned i = 0; i < warp_lanes; ++i) {
      const std::uint64_t on = std::uint64_t{0} - ((lanes >> i) & 1);
      not_consecutive |= (addresses[i] ^ (base + std::uint64_t{i} * Size)) & on;
      not_uniform |= (addresses[i] ^ addresses[first]) & on;
    }
  }
  Checked checked;
  std::uint64_t low, high, bits;
  if (!not_consecutive) {
    low = addresses[first];
    high = addresses[last];
    bits = low;
    checked.pattern = Pattern::consecutive;
  } else if (!not_uniform) {
    low = high = bits = addresses[first];
    checked.pattern = Pattern::uniform;
  } else {
    low = high = addresses[first];
    bits = 0;
    if (lanes == ~0u) {
      checked.halves = regular_half<Size>(addresses) && regular_half<Size>(addresses + 16) ? Halves::regular
                                                                                           : Halves::neither;
      for (unsigned i = 0; i < warp_lanes; ++i) {
        const std::uint64_t a = addresses[i];
        low = a < low ? a : low;
        high = a > high ? a : high;
        bits |= a;
      }
    } else {
      for (unsigned i = 0; i < warp_lanes; ++i) {
        const std::uint64_t a = (lanes >> i) & 1 ? addresses[i] : addresses[first];
        low = a < low ? a : low;
        high = a > high ? a : high;
        bits |= a;
      }
    }
  }
  Target target = target_of(context, access.space, low);
  auto from = static_cast<std::int64_t>(low - target.origin);
  auto to = static_cast<std::int64_t>(high - target.origin) + static_cast<std::int64_t>(Size);
  if ((bits & (Size - 1)) || !(target.region->inside(from, to) || target.region->enter_piece(from, to)))
      [[unlikely]] {
    lanes = sort_out_lanes(context, lanes, access, direction, addresses);
    low = high = 0;
    checked.halves = Halves::neither;
    checked.pattern = Pattern::scattered; // several pieces or regions, every lane checked on its own
    target = target_of(context, access.space, addresses[std::countr_zero(lanes)]);
  }
  checked.region = target.region;
  checked.addresses = addresses;
  checked.origin = target.origin;
  if (high != 0) {
    checked.low = from;
    checked.span = to - from;
  }
  checked.base =
      static_cast<std::int64_t>((checked.pattern == Pattern::consecutive ? base : low) - target.origin);
  if (target.region->kind == RegionKind::local) { // every lane has its own
    if (checked.pattern == Pattern::consecutive) checked.pattern = Pattern::scattered;
    checked.lane_stride = context.local_stride;
  }
  return checked;
}

} // namespace assay::cpu
