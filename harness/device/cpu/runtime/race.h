// The race check of every load, store and atomic to memory that is written. segments.h says what order is;
// two accesses to one byte without it, at least one of them a write and not both strong (volatile, relaxed
// and stronger, atomics), are a race. Two weak stores of the same value are a note.
#pragma once

#include "harness/device/cpu/runtime/access.h"

#include <bit>
#include <cstdint>

namespace assay::cpu {

// What an access means to the check; one a call.
struct RaceAccess {
  WarpContext& context;
  const Access& access;
  const Checked& at;
  RaceShadow& shadow;
  std::uint32_t lanes;
  AccessRecord floor; // records below are ordered before anything now
  AccessRecord mine;  // record of lane 0
  bool strong;
};

// The slow ways: every lane, every granule, with the segment table. new_bytes(lane): what will be stored, for
// telling a note from a race; null for atomics.
void check_lanes_loaded(const RaceAccess& race);
void check_lanes_stored(const RaceAccess& race, const std::byte* const* new_bytes);

RaceAccess begin_race_check(WarpContext& context, std::uint32_t lanes, const Access& access,
                            const Checked& at, unsigned log2_size, bool writes);

template <unsigned Size>
inline void check_load_race(WarpContext& context, std::uint32_t lanes, const Access& access,
                            const Checked& at) {
  constexpr unsigned log2_size = std::countr_zero(Size) > 4 ? 4 : std::countr_zero(Size);
  const RaceAccess race = begin_race_check(context, lanes, access, at, log2_size, false);
  if (!race.strong && race.shadow.shift == std::countr_zero(Size)) {
    const AccessRecord* writes = race.shadow.writes.data();
    AccessRecord* reads = race.shadow.reads.data();
    const std::uint32_t trusted = context.trusted_segment;
    std::uint32_t bad = 0;
    if (at.pattern == Pattern::consecutive && lanes == ~0u) {
      const std::size_t first = static_cast<std::size_t>(at.base) / Size;
      for (unsigned i = 0; i < warp_lanes; ++i) {
        const AccessRecord w = writes[first + i], r = reads[first + i], mine = race.mine + i;
        bad |= static_cast<std::uint32_t>(w >= race.floor) & static_cast<std::uint32_t>(w != mine) &
               static_cast<std::uint32_t>((w >> record_segment_shift) != trusted);
        bad |= static_cast<std::uint32_t>(r >= race.floor) & static_cast<std::uint32_t>(r != mine);
      }
      if (!bad) {
        for (unsigned i = 0; i < warp_lanes; ++i) reads[first + i] = race.mine + i;
        return;
      }
      bad = 0;
      const AccessRecord several = first_record(context.block->several);
      for (unsigned i = 0; i < warp_lanes; ++i) {
        const AccessRecord w = writes[first + i], r = reads[first + i];
        bad |= static_cast<std::uint32_t>(w >= race.floor) |
               static_cast<std::uint32_t>(r != several + several_lanes);
      }
      if (!bad) return;
    } else if (at.pattern == Pattern::scattered && lanes == ~0u) {
      const AccessRecord several = first_record(context.block->several) + several_lanes;
      for (unsigned i = 0; i < warp_lanes; ++i) {
        const std::size_t cell = (at.addresses[i] - at.origin) / Size;
        const AccessRecord w = writes[cell], r = reads[cell], mine = race.mine + i;
        const bool fresh = r < race.floor, own = (r ^ mine) < 128;
        bad |= static_cast<std::uint32_t>(w >= race.floor) & static_cast<std::uint32_t>(w != mine);
        bad |= static_cast<std::uint32_t>(!fresh & !own & (r != several));
        const AccessRecord shared_by_lanes = r == mine ? mine : (mine & ~63u) | several_lanes;
        reads[cell] = fresh ? mine : own ? shared_by_lanes : r;
      }
      if (!bad) return;
    } else if (at.pattern == Pattern::uniform) {
      const std::size_t cell = static_cast<std::size_t>(at.base) / Size;
      AccessRecord& r = reads[cell];
      const AccessRecord own = lanes & (lanes - 1)
                                   ? race.mine + several_lanes
                                   : race.mine + static_cast<std::uint32_t>(std::countr_zero(lanes));
      if (writes[cell] < race.floor) {
        if (r < race.floor) r = own;
        if (r == own || r == race.mine + several_lanes) return;
        if (r == first_record(context.block->several) + several_lanes) return;
      }
    }
  }
  check_lanes_loaded(race);
}

// bytes_of(lane): pointer to what the lane stores.
template <unsigned Size, class BytesOf>
inline void check_store_race(WarpContext& context, std::uint32_t lanes, const Access& access,
                             const Checked& at, BytesOf&& bytes_of) {
  constexpr unsigned log2_size = std::countr_zero(Size) > 4 ? 4 : std::countr_zero(Size);
  const RaceAccess race = begin_race_check(context, lanes, access, at, log2_size, true);
  if (!race.strong && race.shadow.shift == std::countr_zero(Size) && at.pattern == Pattern::consecutive &&
      lanes == ~0u) {
    AccessRecord* writes = race.shadow.writes.data();
    const AccessRecord* reads = race.shadow.reads.data();
    const std::uint32_t trusted = context.trusted_segment;
    const std::size_t first = static_cast<std::size_t>(at.base) / Size;
    std::uint32_t bad = 0;
    for (unsigned i = 0; i < warp_lanes; ++i) {
      const AccessRecord w = writes[first + i], r = reads[first + i], mine = race.mine + i;
      bad |= static_cast<std::uint32_t>(w >= race.floor) & static_cast<std::uint32_t>(w != mine) &
             static_cast<std::uint32_t>((w >> record_segment_shift) != trusted);
      bad |= static_cast<std::uint32_t>(r >= race.floor) & static_cast<std::uint32_t>(r != mine) &
             static_cast<std::uint32_t>((r >> record_segment_shift) != trusted);
    }
    if (!bad) {
      for (unsigned i = 0; i < warp_lanes; ++i) writes[first + i] = race.mine + i;
      return;
    }
  }
  std::byte stored[warp_lanes][32];
  const std::byte* pointers[warp_lanes];
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    pointers[lane] = stored[lane];
    if ((lanes >> lane) & 1) bytes_of(lane, stored[lane]);
  }
  check_lanes_stored(race, pointers);
}

template <unsigned Size>
inline void check_atomic_race(WarpContext& context, std::uint32_t lanes, const Access& access,
                              const Checked& at) {
  check_lanes_stored(begin_race_check(context, lanes, access, at, std::countr_zero(Size), true), nullptr);
}

} // namespace assay::cpu
