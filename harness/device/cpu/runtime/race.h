// The race check of every load, store and atomic to memory that is written. segments.h says what order is;
// two accesses to one byte without it, at least one of them a write and not both strong (volatile, relaxed
// and stronger, atomics), are a race. In global memory an access of a block's scope is strong for that block
// only. Two weak stores of the same value are a note.
#pragma once

#include "harness/device/cpu/runtime/access.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

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

// Where no segment or shadow is ready for the access.
void prepare_race_check(WarpContext& context, const Region& region, unsigned log2_size);

inline RaceAccess begin_race_check(WarpContext& context, std::uint32_t lanes, const Access& access,
                                   const Checked& at, unsigned log2_size, bool writes) {
  Segments& segments = context.launch->segments;
  const Region& region = *at.region;
  RaceShadow& shadow = *region.races;
  if (segments.full() || context.segment < context.block->barrier_floor ||
      context.segment < segments.floor() ||
      !shadow.ready(region.tracked_bytes(), log2_size, segments.generation())) [[unlikely]]
    prepare_race_check(context, region, log2_size);
  Segment& segment = segments.at(context.segment);
  (writes ? segment.wrote_at : segment.read_at) = access.site;
  const std::uint32_t floor = region.kind == RegionKind::shared
                                  ? std::max(context.block->barrier_floor, segments.floor())
                                  : segments.floor();
  const bool strong = access.ordering != weak;
  const bool of_block = access.of_block && region.kind != RegionKind::shared;
  return {context,
          access,
          at,
          shadow,
          lanes,
          first_record(floor),
          first_record(context.segment) + (strong ? record_strong : 0) + (of_block ? record_of_block : 0),
          strong};
}

// Eight records at once: what a vector register holds.
using Records = AccessRecord __attribute__((vector_size(octet_lanes * sizeof(AccessRecord))));
inline constexpr Records octet_numbers = {0, 1, 2, 3, 4, 5, 6, 7};
inline Records read_records(const AccessRecord* from) {
  Records records;
  std::memcpy(&records, from, sizeof records);
  return records;
}
inline void write_records(AccessRecord* to, Records records) { std::memcpy(to, &records, sizeof records); }
inline bool any(Records truth) { return __builtin_reduce_or(truth) != 0; }
inline Records truth(auto comparison) { return __builtin_convertvector(comparison, Records); }

// True where the record is neither old enough, nor `mine`, nor of the segment known to come before.
inline bool suspicious(AccessRecord record, AccessRecord mine, AccessRecord floor, std::uint32_t trusted) {
  return record >= floor && record != mine && segment_of(record) != trusted;
}
inline Records suspicious(Records records, Records mine, AccessRecord floor, std::uint32_t trusted) {
  return truth(records >= (Records{} + floor)) & truth(records != mine) &
         truth((records >> record_segment_shift) != (Records{} + trusted));
}

// One reader more of a granule; eight in a row. The slow ways, which look at the segment table.
void note_reader(const RaceAccess& race, AccessRecord& reader, AccessRecord mine);
void note_readers(const RaceAccess& race, AccessRecord* readers, const Records& mine);

// The fast ways take weak accesses and end where they find something suspicious; then all goes lane by lane.
// Several reads of one granule become one record: by one lane, by several of the warp, by several warps.

inline bool read_is_clean(const RaceAccess& race, std::size_t cell, AccessRecord mine) {
  const std::uint32_t trusted = race.context.trusted_segment;
  if (suspicious(race.shadow.writes[cell], mine, race.floor, trusted)) return false;
  AccessRecord& reader = race.shadow.reads[cell];
  if (reader < race.floor || segment_of(reader) == trusted)
    reader = mine;
  else if (reader != mine)
    note_reader(race, reader, mine);
  return true;
}

// Eight granules from `cell` on, each with the record that would be its.
inline bool reads_are_clean(const RaceAccess& race, std::size_t cell, Records mine) {
  const std::uint32_t trusted = race.context.trusted_segment;
  if (any(suspicious(read_records(race.shadow.writes.data() + cell), mine, race.floor, trusted)))
    return false;
  AccessRecord* readers = race.shadow.reads.data() + cell;
  const Records before = read_records(readers);
  const AccessRecord several = first_record(race.context.block->several) + several_lanes;
  const AccessRecord by_lanes = race.mine + several_lanes;
  const Records fresh = truth(before < (Records{} + race.floor)) |
                        truth((before >> record_segment_shift) == (Records{} + trusted));
  const Records same = truth(before == mine) | truth(before == (Records{} + several));
  const Records own = truth((before ^ mine) < (Records{} + record_strong)) & ~same; // of another lane
  if (any(~(fresh | same | own)))
    note_readers(race, readers, mine);
  else
    write_records(readers,
                  (fresh & mine) | (own & ~fresh & (Records{} + by_lanes)) | (~(fresh | own) & before));
  return true;
}

template <unsigned Size> inline bool load_is_clean(const RaceAccess& race) {
  const Checked& at = race.at;
  const unsigned shift = race.shadow.shift;
  const unsigned finer = std::countr_zero(Size) - shift; // log2 of the granules a lane
  const unsigned cells = 1u << finer;
  if (at.lane_stride != 0) return false;
  const AccessRecord by_lanes = race.mine + several_lanes;
  if (at.pattern == Pattern::uniform) {
    const bool one_lane = (race.lanes & (race.lanes - 1)) == 0;
    const AccessRecord mine =
        one_lane ? race.mine + static_cast<unsigned>(std::countr_zero(race.lanes)) : by_lanes;
    const std::size_t first = static_cast<std::size_t>(at.base) >> shift;
    bool clean = true;
    for (unsigned k = 0; k < cells; ++k) clean &= read_is_clean(race, first + k, mine);
    return clean;
  }
  if (race.lanes == ~0u && at.pattern != Pattern::scattered) {
    for (unsigned octet = 0; octet < octet_count; ++octet) {
      const unsigned lane = octet * octet_lanes;
      const std::size_t first = static_cast<std::size_t>(at.offset_of(lane, Size)) >> shift;
      if (at.pattern == Pattern::octets && at.one_place(octet)) {
        for (unsigned k = 0; k < cells; ++k)
          if (!read_is_clean(race, first + k, by_lanes)) return false;
        continue;
      }
      for (unsigned k = 0; k < cells; ++k) { // eight cells at a time
        const Records lanes = ((octet_numbers + k * octet_lanes) >> finer) + lane;
        if (!reads_are_clean(race, first + std::size_t{k} * octet_lanes, lanes + race.mine)) return false;
      }
    }
    return true;
  }
  for (std::uint32_t rest = race.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::size_t first = static_cast<std::size_t>(at.offset_of(lane, Size)) >> shift;
    for (unsigned k = 0; k < cells; ++k)
      if (!read_is_clean(race, first + k, race.mine + lane)) return false;
  }
  return true;
}

inline bool octets_apart(const Checked& at, unsigned size) {
  for (unsigned a = 0; a < octet_count; ++a) {
    if (at.one_place(a)) return false;
    for (unsigned b = 0; b < a; ++b) {
      const std::uint64_t distance = at.addresses[a * octet_lanes] - at.addresses[b * octet_lanes];
      const std::uint64_t reach = std::uint64_t{octet_lanes} * size;
      if (distance < reach || std::uint64_t{0} - distance < reach) return false;
    }
  }
  return true;
}

template <unsigned Size> inline bool store_is_clean(const RaceAccess& race) {
  const Checked& at = race.at;
  AccessRecord* writes = race.shadow.writes.data();
  const AccessRecord* reads = race.shadow.reads.data();
  const std::uint32_t trusted = race.context.trusted_segment;
  const unsigned shift = race.shadow.shift;
  const unsigned finer = std::countr_zero(Size) - shift;
  if (race.lanes == ~0u &&
      (at.pattern == Pattern::consecutive || (at.pattern == Pattern::octets && octets_apart(at, Size)))) {
    const auto for_octets = [&](auto&& visit) { // visit(first of eight cells, their records)
      for (unsigned octet = 0; octet < octet_count; ++octet) {
        const unsigned lane = octet * octet_lanes;
        const std::size_t first = static_cast<std::size_t>(at.offset_of(lane, Size)) >> shift;
        for (unsigned k = 0; k < 1u << finer; ++k)
          visit(first + std::size_t{k} * octet_lanes,
                ((octet_numbers + k * octet_lanes) >> finer) + lane + race.mine);
      }
    };
    Records bad{};
    for_octets([&](std::size_t cell, Records mine) {
      bad |= suspicious(read_records(writes + cell), mine, race.floor, trusted) |
             suspicious(read_records(reads + cell), mine, race.floor, trusted);
    });
    if (any(bad)) return false;
    for_octets([&](std::size_t cell, Records mine) { write_records(writes + cell, mine); });
    return true;
  }
  if (finer != 0 || at.lane_stride != 0) return false;
  AccessRecord before[warp_lanes];
  bool bad = false;
  const auto cell_of = [&](unsigned lane) {
    return static_cast<std::size_t>(at.offset_of(lane, Size)) >> shift;
  };
  for (std::uint32_t rest = race.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::size_t cell = cell_of(lane);
    const AccessRecord mine = race.mine + lane;
    before[lane] = writes[cell];
    bad |= suspicious(before[lane], mine, race.floor, trusted) ||
           suspicious(reads[cell], mine, race.floor, trusted);
    writes[cell] = mine; // at once: two lanes at one place are seen
  }
  if (!bad) return true;
  for (unsigned lane = warp_lanes; lane-- > 0;)
    if ((race.lanes >> lane & 1) != 0) writes[cell_of(lane)] = before[lane];
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
