// Which bytes hold a value that somebody wrote: loads report lanes whose bytes do not, stores pass it on.
#pragma once

#include "harness/device/cpu/runtime/access.h"

#include <cstdint>
#include <cstring>

namespace assay::cpu {

// Gives the region a map of undefined bytes, all defined so far.
void start_tracking(Region& region);
// Remembers where an undefined value was loaded, for the message when it is used.
void remember_origin(WarpContext& context, const Access& access, const Region& region, std::int64_t offset);
// Bytes [offset, offset + bytes) now hold a stored value that derives from undefined ones.
void store_undefined(Region& region, const Access& access, std::int64_t offset, unsigned bytes);

void store_partly_undefined(const WarpContext& context, Region& region, const Access& access,
                            std::int64_t offset, unsigned lane, std::uint64_t bits, unsigned bytes);

// At the end of a launch: an output element whose value derives from undefined ones counts as a use of them.
void report_undefined_outputs(Launch& launch);

template <unsigned Bytes, unsigned Vector>
inline void find_undefined(WarpContext& context, std::uint32_t lanes, const Access& access, const Checked& at,
                           std::uint32_t* undefined) {
  constexpr unsigned size = Bytes * Vector;
  const Region& region = *at.region;
  if (at.pattern == Pattern::consecutive && lanes == ~0u &&
      !any_in_range(region.undefined, static_cast<std::size_t>(at.base), std::size_t{size} * warp_lanes))
    return;
  if (at.pattern == Pattern::octets) {
    bool some = false;
    for (unsigned octet = 0; octet < octet_count; ++octet)
      some |=
          any_in_range(region.undefined, static_cast<std::size_t>(at.offset_of(octet * octet_lanes, size)),
                       std::size_t{size} * (at.one_place(octet) ? 1 : octet_lanes));
    if (!some) return;
  }
  if (at.pattern == Pattern::uniform && !at.lane_stride &&
      !any_in_element(region.undefined, static_cast<std::size_t>(at.base), size))
    return;
  constexpr std::int64_t short_span = 1024; // bytes; beyond, lane by lane is no slower
  if (at.span != 0 && at.span <= short_span && !at.lane_stride &&
      !any_in_range(region.undefined, static_cast<std::size_t>(at.low), static_cast<std::size_t>(at.span)))
    return;
  bool found = false;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::int64_t offset = at.offset_of(lane, size);
    for (unsigned v = 0; v < Vector; ++v) {
      const std::size_t place = static_cast<std::size_t>(offset) + v * Bytes;
      if (!any_in_element(region.undefined, place, Bytes)) continue;
      undefined[v] |= 1u << lane;
      if constexpr (Bytes > 1 && Bytes <= 8) {
        unsigned mask = 0;
        for (unsigned byte = 0; byte < Bytes; ++byte)
          mask |= static_cast<unsigned>(any_in_element(region.undefined, place + byte, 1)) << byte;
        std::uint64_t bits = 0;
        std::memcpy(&bits, region.data + place, Bytes);
        context.partials.note(lane, bits, Bytes, mask);
      }
      if (!found) remember_origin(context, access, region, offset + v * Bytes);
      found = true;
    }
  }
}

// values: what is stored, as assay_store has it.
template <unsigned Bytes, unsigned Vector>
inline void mark_defined(const WarpContext& context, std::uint32_t lanes, const Access& access,
                         const Checked& at, const void* values, const std::uint32_t* undefined) {
  constexpr unsigned size = Bytes * Vector;
  Region& region = *at.region;
  std::uint32_t any = 0;
  for (unsigned v = 0; v < Vector; ++v) any |= undefined[v] & lanes;
  if (!region.undefined) {
    if (!any) return;
    start_tracking(region);
  }
  if (at.pattern == Pattern::consecutive && lanes == ~0u && !any)
    return clear_range(region.undefined, static_cast<std::size_t>(at.base), std::size_t{size} * warp_lanes);
  if (at.pattern == Pattern::octets && !any) {
    for (unsigned octet = 0; octet < octet_count; ++octet)
      clear_range(region.undefined, static_cast<std::size_t>(at.offset_of(octet * octet_lanes, size)),
                  std::size_t{size} * (at.one_place(octet) ? 1 : octet_lanes));
    return;
  }
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::int64_t offset = at.offset_of(lane, size);
    if (!((any >> lane) & 1)) {
      clear_element(region.undefined, static_cast<std::size_t>(offset), size);
      continue;
    }
    for (unsigned v = 0; v < Vector; ++v) {
      if ((undefined[v] >> lane) & 1) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, static_cast<const std::byte*>(values) + (v * warp_lanes + lane) * Bytes,
                    Bytes < 8 ? Bytes : 8);
        store_partly_undefined(context, region, access, offset + v * Bytes, lane, bits, Bytes);
      } else
        clear_element(region.undefined, static_cast<std::size_t>(offset) + v * Bytes, Bytes);
    }
  }
}

} // namespace assay::cpu
