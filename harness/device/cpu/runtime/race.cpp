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
      fmt::format("{}: {} {} by {}, {}, and {} by {}{}{}{}",
                  same_value ? "note: the same value stored twice" : "race", writes ? "write of" : "read of",
                  element_name(region, offset), thread_name(context, lane), faults.place_text(site),
                  earlier_wrote ? "write" : "read", thread_of_record(launch, segment, lane_of(record)),
                  there.ptx_line ? ", " : "", there.ptx_line ? faults.place_text(there) : "",
                  one_instruction ? ", in one instruction" : ", without order between them");
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

RaceAccess begin_race_check(WarpContext& context, std::uint32_t lanes, const Access& access,
                            const Checked& at, unsigned log2_size, bool writes) {
  Segments& segments = context.launch->segments;
  Region& region = *at.region;
  Block& block = *context.block;
  segments.make_room();
  if (context.segment < std::max(block.barrier_floor, segments.floor())) {
    context.trusted_segment = context.latest_segment;
    context.latest_segment = context.segment = segments.add(block.number, context.warp.warp_index);
  }
  Segment& segment = segments.at(context.segment);
  (writes ? segment.wrote_at : segment.read_at) = access.site;
  RaceShadow& shadow = *region.races;
  const std::size_t bytes = region.pieces ? region.bytes : static_cast<std::size_t>(region.end);
  if (shadow.shift > log2_size || shadow.generation != segments.generation() ||
      shadow.writes.size() < (bytes >> shadow.shift) + 1)
    shadow.prepare(bytes, log2_size, segments.generation());
  const std::uint32_t floor =
      region.kind == RegionKind::shared ? std::max(block.barrier_floor, segments.floor()) : segments.floor();
  const bool strong = access.ordering != weak;
  return {context,
          access,
          at,
          shadow,
          lanes,
          first_record(floor),
          first_record(context.segment) + (strong ? record_strong : 0),
          strong};
}

void check_lanes_loaded(const RaceAccess& race) {
  Segments& segments = race.context.launch->segments;
  const unsigned size = unsigned{race.access.element_bytes} * race.access.vector;
  const std::uint32_t my_segment = segment_of(race.mine);
  for (std::uint32_t rest = race.lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const auto offset = static_cast<std::size_t>(race.at.offset_of(lane, size));
    const std::size_t last = (offset + size - 1) >> race.shadow.shift;
    for (std::size_t cell = offset >> race.shadow.shift; cell <= last; ++cell) {
      const AccessRecord w = race.shadow.writes[cell];
      if (!(race.strong && (w & record_strong)) && !before(race, w, lane))
        report(race, lane, static_cast<std::int64_t>(cell << race.shadow.shift), w, true, false, false);
      AccessRecord& r = race.shadow.reads[cell];
      const AccessRecord mine = race.mine + lane;
      if (r == mine) continue;
      const AccessRecord strength =
          race.strong ? r & record_strong : 0; // together strong only where both are
      if (r >= race.floor && segment_of(r) == my_segment) {
        r = first_record(my_segment) + strength + (lane_of(r) == lane ? lane : several_lanes);
      } else if (before(race, r, lane)) {
        r = mine;
      } else {
        const Segment other = segments.at(segment_of(r));
        const bool same_block = other.block == race.context.block->number;
        const std::uint32_t several =
            same_block ? segments.several_in_block(*race.context.block) : segments.several_in_grid();
        Segment& merged = segments.at(several);
        merged.read_at = race.access.site;
        r = first_record(several) + strength + several_lanes;
      }
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
      if (!(race.strong && (w & record_strong)) && !before(race, w, lane)) {
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
      if (!(race.strong && (r & record_strong)) && !before(race, r, lane))
        report(race, lane, static_cast<std::int64_t>(place), r, false, true, false);
      race.shadow.writes[cell] = race.mine + lane;
    }
    done |= 1u << lane;
  }
}

} // namespace assay::cpu
