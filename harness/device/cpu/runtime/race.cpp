#include "harness/device/cpu/runtime/race.h"

#include "harness/device/cpu/runtime/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace assay::cpu {
namespace {

std::string thread_of_record(const Launch& launch, const Segment& segment, unsigned lane) {
  if (segment.block == several_blocks) return "threads of several blocks";
  const std::uint64_t x = segment.block % launch.grid[0], y = segment.block / launch.grid[0] % launch.grid[1],
                      z = segment.block / launch.grid[0] / launch.grid[1];
  const std::string block = fmt::format("block ({},{},{})", x, y, z);
  if (segment.warp == several_warps) return fmt::format("threads of several warps of {}", block);
  if (lane >= several_lanes) return fmt::format("several threads of warp {} of {}", segment.warp, block);
  const std::uint32_t thread = segment.warp * warp_lanes + lane;
  return fmt::format("thread ({},{},{}) of {}", thread % launch.block[0],
                     thread / launch.block[0] % launch.block[1], thread / launch.block[0] / launch.block[1],
                     block);
}

// Whether the two accesses are strong for each other; a record from before the floor, which is in order,
// counts as one.
bool both_strong(const RaceAccess& race, AccessRecord record) {
  if (!race.strong || (record & record_strong) == 0) return false;
  if (((record | race.mine) & record_of_block) == 0 || record < race.floor) return true;
  return race.context.launch->segments.at(segment_of(record)).block == race.context.block->number;
}

// `record` is of the earlier access, which wrote where `earlier_wrote`.
void report(const RaceAccess& race, unsigned lane, std::int64_t offset, AccessRecord record,
            bool earlier_wrote, bool writes, bool same_value) {
  WarpContext& context = race.context;
  Launch& launch = *context.launch;
  FaultLog& faults = launch.faults;
  const Region& region = *race.at.region;
  const Site& site = race.access.site;
  if (!faults.first_time(Kind::race, &region, site, same_value)) return;
  const Segment& segment = launch.segments.at(segment_of(record));
  const Site there = earlier_wrote ? segment.wrote_at : segment.read_at;
  const bool one_instruction =
      segment_of(record) == segment_of(race.mine) && there.ptx_line && there.id == site.id && writes;
  std::string message =
      fmt::format("{}: {} {} by {}, {}, and {} by {}{}{}{}{}",
                  same_value ? "note: the same value stored twice" : "race", writes ? "write of" : "read of",
                  element_name(region, offset), thread_name(context, lane), faults.place_text(site),
                  earlier_wrote ? "write" : "read", thread_of_record(launch, segment, lane_of(record)),
                  there.ptx_line ? ", " : "", there.ptx_line ? faults.place_text(there) : "",
                  one_instruction ? ", in one instruction" : ", without order between them",
                  race.strong && (record & record_strong) != 0 ? " (strong within one block only)" : "");
  // The place does not depend on which access came first: the write's; of two writes the one that stands
  // first.
  const Site& place = !there.ptx_line                               ? site
                      : !writes                                     ? there
                      : earlier_wrote && stands_before(there, site) ? there
                                                                    : site;
  faults.record(Kind::race, fault_buffer(region), faults.place_of(place), std::move(message), same_value);
}

// Whether the record's access happens before (or is) what `lane` does now.
bool before(const RaceAccess& race, AccessRecord record, unsigned lane) {
  if (record < race.floor) return true;
  const std::uint32_t segment = segment_of(record);
  if (segment == segment_of(race.mine)) return lane_of(record) == lane;
  if (segment == race.context.trusted_segment) return true;
  if (!race.context.launch->segments.ordered(race.context, segment)) return false;
  if (race.context.launch->segments.at(segment).warp != several_warps) race.context.trusted_segment = segment;
  return true;
}

} // namespace

void prepare_race_check(WarpContext& context, const Region& region, unsigned log2_size) {
  Segments& segments = context.launch->segments;
  Block& block = *context.block;
  segments.make_room();
  if (context.segment < std::max(block.barrier_floor, segments.floor())) {
    context.trusted_segment = context.latest_segment;
    context.latest_segment = context.segment = segments.add(block.number, context.warp.warp_index);
  }
  if (!region.races->ready(region.tracked_bytes(), log2_size, segments.generation()))
    region.races->prepare(region.tracked_bytes(), log2_size, segments.generation());
}

void note_reader(const RaceAccess& race, AccessRecord& reader, AccessRecord mine) {
  if (reader == mine) return;
  Segments& segments = race.context.launch->segments;
  const std::uint32_t my_segment = segment_of(race.mine);
  const AccessRecord strength =
      race.strong ? reader & record_strong : 0; // together strong only where both are
  const AccessRecord scope = (reader | race.mine) & record_of_block;
  if (reader >= race.floor && segment_of(reader) == my_segment) {
    reader = first_record(my_segment) + strength + scope +
             (lane_of(reader) == lane_of(mine) ? lane_of(mine) : several_lanes);
  } else if (before(race, reader, lane_of(mine))) {
    reader = mine;
  } else {
    const bool same_block = segments.at(segment_of(reader)).block == race.context.block->number;
    const std::uint32_t several =
        same_block ? segments.several_in_block(*race.context.block) : segments.several_in_grid();
    segments.at(several).read_at = race.access.site;
    reader = first_record(several) + strength + (same_block ? scope : 0) + several_lanes;
  }
}

void note_readers(const RaceAccess& race, AccessRecord* readers, const Records& mine) {
  for (unsigned k = 0; k < octet_lanes; ++k) {
    const AccessRecord was = readers[k];
    note_reader(race, readers[k], mine[k]);
    // what this found of one granule mostly holds for the next
    const AccessRecord several = readers[k];
    if (lane_of(several) != several_lanes || segment_of(several) == segment_of(race.mine)) continue;
    while (k + 1 < octet_lanes && segment_of(readers[k + 1]) == segment_of(was)) readers[++k] = several;
  }
}

void check_lanes_loaded(const RaceAccess& race) {
  const unsigned size = unsigned{race.access.element_bytes} * race.access.vector;
  for (std::uint32_t rest = race.lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const auto offset = static_cast<std::size_t>(race.at.offset_of(lane, size));
    const std::size_t last = (offset + size - 1) >> race.shadow.shift;
    for (std::size_t cell = offset >> race.shadow.shift; cell <= last; ++cell) {
      const AccessRecord w = race.shadow.writes[cell];
      if (!both_strong(race, w) && !before(race, w, lane))
        report(race, lane, static_cast<std::int64_t>(cell << race.shadow.shift), w, true, false, false);
      note_reader(race, race.shadow.reads[cell], race.mine + lane);
    }
  }
}

void check_lanes_stored(const RaceAccess& race, const std::byte* const* new_bytes) {
  const unsigned size = unsigned{race.access.element_bytes} * race.access.vector;
  const Region& region = *race.at.region;
  const std::size_t granule = std::size_t{1} << race.shadow.shift;
  // Lanes of one instruction that hit the same place compare with what the earlier lane stores, which is not
  // yet in memory.
  std::uint32_t done = 0;
  for (std::uint32_t rest = race.lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const auto offset = static_cast<std::size_t>(race.at.offset_of(lane, size));
    const std::size_t last = (offset + size - 1) >> race.shadow.shift;
    for (std::size_t cell = offset >> race.shadow.shift; cell <= last; ++cell) {
      const AccessRecord w = race.shadow.writes[cell], r = race.shadow.reads[cell];
      const std::size_t place = cell << race.shadow.shift;
      if (!both_strong(race, w) && !before(race, w, lane)) {
        bool same = false;
        if (new_bytes) {
          const std::size_t within = place - offset;
          const std::byte* there = region.data + place;
          const unsigned other = lane_of(w);
          if (segment_of(w) == segment_of(race.mine) && other < warp_lanes && ((done >> other) & 1)) {
            const auto other_offset = static_cast<std::size_t>(race.at.offset_of(other, size));
            if (place >= other_offset && place + granule <= other_offset + size)
              there = new_bytes[other] + (place - other_offset);
          }
          same = std::memcmp(there, new_bytes[lane] + within, std::min<std::size_t>(granule, size)) == 0;
        }
        report(race, lane, static_cast<std::int64_t>(place), w, true, true, same);
      }
      if (!both_strong(race, r) && !before(race, r, lane))
        report(race, lane, static_cast<std::int64_t>(place), r, false, true, false);
      race.shadow.writes[cell] = race.mine + lane;
    }
    done |= 1u << lane;
  }
}

} // namespace assay::cpu
