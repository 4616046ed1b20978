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

// 1 where the record is neither old enough, nor `mine`, nor of the segment known to come before.
inline std::uint32_t suspicious(AccessRecord record, AccessRecord mine, AccessRecord floor,
                                std::uint32_t trusted) {
  return static_cast<std::uint32_t>(record >= floor) & static_cast<std::uint32_t>(record != mine) &
         static_cast<std::uint32_t>((record >> record_segment_shift) != trusted);
}

// Half a warp, from lane `half` on, that reads consecutive places or one place, as the tiles of a matrix
// product do.
template <unsigned Size>
inline bool half_is_clean(const RaceAccess& race, unsigned half, AccessRecord several) {
  const Checked& at = race.at;
  const AccessRecord* writes = race.shadow.writes.data();
  AccessRecord* reads = race.shadow.reads.data();
  const std::uint32_t trusted = race.context.trusted_segment;
  const AccessRecord by_lanes = (race.mine & ~63u) | several_lanes;
  const std::size_t first = (at.addresses[half] - at.origin) / Size;
  if (at.addresses[half] ==
      at.addresses[half + 1]) { // a lane's own earlier write: rare, and left to the slow way
    const AccessRecord r = reads[first];
    const bool fresh = r < race.floor || (r >> record_segment_shift) == trusted, own = (r ^ race.mine) < 128;
    reads[first] = fresh || own ? by_lanes : r;
    return !suspicious(writes[first], by_lanes, race.floor, trusted) && (fresh || own || r == several);
  }
  std::uint32_t bad = 0;
  for (unsigned i = 0; i < 16; ++i) {
    const AccessRecord r = reads[first + i], mine = race.mine + half + i;
    const std::uint32_t fresh = static_cast<std::uint32_t>(r < race.floor) |
                                static_cast<std::uint32_t>((r >> record_segment_shift) == trusted);
    const std::uint32_t own = static_cast<std::uint32_t>((r ^ mine) < 128);
    bad |= suspicious(writes[first + i], mine, race.floor, trusted);
    bad |= static_cast<std::uint32_t>(!(fresh | own)) & static_cast<std::uint32_t>(r != several);
    reads[first + i] = fresh ? mine : own ? (r == mine ? mine : by_lanes) : r;
  }
  return !bad;
}

// The fast ways take weak accesses of all 32 lanes that find nothing suspicious; the rest goes lane by lane.
template <unsigned Size> inline bool load_is_clean(const RaceAccess& race) {
  const Checked& at = race.at;
  const AccessRecord* writes = race.shadow.writes.data();
  AccessRecord* reads = race.shadow.reads.data();
  const std::uint32_t trusted = race.context.trusted_segment;
  const AccessRecord several = first_record(race.context.block->several) + several_lanes;
  const unsigned finer = std::countr_zero(Size) - race.shadow.shift; // log2 of the granules a lane
  if (at.pattern == Pattern::consecutive && race.lanes == ~0u) {
    const std::size_t first = static_cast<std::size_t>(at.base) >> race.shadow.shift;
    const unsigned count = warp_lanes << finer;
    std::uint32_t bad = 0, not_several = 0;
    for (unsigned k = 0; k < count; ++k) {
      const AccessRecord mine = race.mine + (k >> finer);
      bad |= suspicious(writes[first + k], mine, race.floor, trusted);
      not_several |= suspicious(reads[first + k], mine, race.floor, trusted);
    }
    if (bad) return false;
    if (!not_several) {
      for (unsigned k = 0; k < count; ++k) reads[first + k] = race.mine + (k >> finer);
      return true;
    }
    not_several = 0;
    for (unsigned k = 0; k < count; ++k) not_several |= reads[first + k] ^ several;
    return !not_several;
  }
  if (finer != 0 || at.lane_stride) return false;
  if (at.pattern == Pattern::scattered && race.lanes == ~0u) {
    if (at.halves != Halves::neither) {
      const bool first = half_is_clean<Size>(race, 0, several),
                 second = half_is_clean<Size>(race, 16, several);
      return first && second;
    }
    std::uint32_t bad = 0;
    for (unsigned i = 0; i < warp_lanes; ++i) {
      const std::size_t cell = (at.addresses[i] - at.origin) / Size;
      const AccessRecord r = reads[cell], mine = race.mine + i;
      const bool fresh = r < race.floor || (r >> record_segment_shift) == trusted, own = (r ^ mine) < 128;
      bad |= suspicious(writes[cell], mine, race.floor, trusted);
      bad |= static_cast<std::uint32_t>(!fresh & !own & (r != several));
      const AccessRecord by_lanes = r == mine ? mine : (mine & ~63u) | several_lanes;
      reads[cell] = fresh ? mine : own ? by_lanes : r;
    }
    return !bad;
  }
  if (at.pattern != Pattern::uniform) return false;
  const std::size_t cell = static_cast<std::size_t>(at.base) / Size;
  AccessRecord& r = reads[cell];
  const bool one_lane = (race.lanes & (race.lanes - 1)) == 0;
  const AccessRecord mine =
      race.mine + (one_lane ? static_cast<unsigned>(std::countr_zero(race.lanes)) : several_lanes);
  if (suspicious(writes[cell], mine, race.floor, trusted)) return false;
  if (r < race.floor || (r >> record_segment_shift) == trusted) r = mine;
  return r == mine || r == race.mine + several_lanes || r == several;
}

template <unsigned Size> inline bool store_is_clean(const RaceAccess& race) {
  const Checked& at = race.at;
  AccessRecord* writes = race.shadow.writes.data();
  const AccessRecord* reads = race.shadow.reads.data();
  const std::uint32_t trusted = race.context.trusted_segment;
  const unsigned finer = std::countr_zero(Size) - race.shadow.shift;
  if (race.lanes != ~0u) return false;
  std::uint32_t bad = 0;
  if (at.pattern == Pattern::consecutive) {
    const std::size_t first = static_cast<std::size_t>(at.base) >> race.shadow.shift;
    const unsigned count = warp_lanes << finer;
    for (unsigned k = 0; k < count; ++k) {
      const AccessRecord mine = race.mine + (k >> finer);
      bad |= suspicious(writes[first + k], mine, race.floor, trusted) |
             suspicious(reads[first + k], mine, race.floor, trusted);
    }
    if (bad) return false;
    for (unsigned k = 0; k < count; ++k) writes[first + k] = race.mine + (k >> finer);
    return true;
  }
  if (at.pattern != Pattern::scattered || finer != 0 || at.lane_stride) return false;
  AccessRecord before[warp_lanes];
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const std::size_t cell = (at.addresses[i] - at.origin) / Size;
    const AccessRecord mine = race.mine + i;
    before[i] = writes[cell];
    bad |=
        suspicious(before[i], mine, race.floor, trusted) | suspicious(reads[cell], mine, race.floor, trusted);
    writes[cell] = mine; // at once: two lanes at one place are seen
  }
  if (!bad) return true;
  for (unsigned i = warp_lanes; i-- > 0;) writes[(at.addresses[i] - at.origin) / Size] = before[i];
  return false;
}

template <unsigned Size>
inline constexpr unsigned log2_granule = std::countr_zero(Size) > 4 ? 4 : std::countr_zero(Size);

template <unsigned Size>
inline void check_load_race(WarpContext& context, std::uint32_t lanes, const Access& access,
                            const Checked& at) {
  const RaceAccess race = begin_race_check(context, lanes, access, at, log2_granule<Size>, false);
  if (!race.strong && load_is_clean<Size>(race)) return;
  check_lanes_loaded(race);
}

// bytes_of(lane, std::byte*): what the lane stores.
template <unsigned Size, class BytesOf>
inline void check_store_race(WarpContext& context, std::uint32_t lanes, const Access& access,
                             const Checked& at, BytesOf&& bytes_of) {
  const RaceAccess race = begin_race_check(context, lanes, access, at, log2_granule<Size>, true);
  if (!race.strong && store_is_clean<Size>(race)) return;
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
