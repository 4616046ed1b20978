#include "harness/device/cpu/runtime/segments.h"

#include "harness/device/cpu/runtime/race_shadow.h"
#include "harness/device/cpu/runtime/warp_context.h"

#include <algorithm>

namespace assay::cpu {
namespace {

std::uint64_t key_of(std::uint64_t block, std::uint32_t warp) { return block * 64 + warp; }
constexpr std::size_t kept_buckets = kept_bytes / sizeof(void*);
constexpr std::uint32_t whole_block = 33; // key: all of the block's segments below the value

void raise(std::unordered_map<std::uint64_t, std::uint32_t>& map, std::uint64_t key, std::uint32_t value) {
  std::uint32_t& entry = map[key];
  entry = std::max(entry, value);
}
void add_once(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

bool knows(const Knowledge& knowledge, std::uint64_t block, std::uint32_t warp, std::uint32_t segment) {
  const auto by_warp = knowledge.released.find(key_of(block, warp));
  if (by_warp != knowledge.released.end() && segment <= by_warp->second) return true;
  const auto by_block = knowledge.released.find(key_of(block, whole_block));
  return by_block != knowledge.released.end() && segment < by_block->second;
}

} // namespace

void Segments::forget() {
  segments_.clear();
  give_back(segments_);
  objects_.clear();
  give_back(objects_);
  if (by_location_.bucket_count() > kept_buckets) by_location_ = {};
  by_location_.clear();
}

void Segments::start_launch() {
  forget();
  if (next_ > max_segment_number / 4) {
    next_ = 1;
    ++generation_;
  }
  floor_ = next_;
  several_in_grid_ = 0;
  fenced_ = gave_up_ = false;
}

void Segments::make_room() {
  if (!full()) return;
  segments_.clear();
  floor_ = next_;
  several_in_grid_ = 0;
}

std::uint32_t Segments::add(std::uint64_t block, std::uint32_t warp) {
  segments_.push_back({block, warp, {}, {}});
  return next_++;
}

std::uint32_t Segments::several_in_block(Block& block) {
  if (block.several < std::max(block.barrier_floor, floor_)) block.several = add(block.number, several_warps);
  return block.several;
}

std::uint32_t Segments::several_in_grid() {
  if (several_in_grid_ < floor_) several_in_grid_ = add(several_blocks, several_warps);
  return several_in_grid_;
}

bool Segments::ordered(const WarpContext& context, std::uint32_t segment) {
  const Segment& other = at(segment);
  const Block& block = *context.block;
  if (other.block == block.number) {
    if (segment < block.barrier_floor || other.warp == context.warp.warp_index) return true;
    if (other.warp == several_warps) return segment < context.acquired_floor;
    if (segment <= context.known[other.warp]) return true;
  } else if (other.block == several_blocks) {
    return segment < context.acquired_floor || segment < block.acquired_floor;
  }
  if (gave_up_) return other.block != block.number;
  if (context.acquired.empty() && block.acquired.empty()) return false;
  const bool same_block = other.block == block.number;
  visit_.clear();
  visited_.clear();
  for (const auto* acquired : {&context.acquired, &block.acquired})
    for (const std::uint32_t object : *acquired) visit_.push_back({object, same_block});
  while (!visit_.empty()) {
    const Visit visit = visit_.back();
    visit_.pop_back();
    if (std::ranges::find(visited_, visit.object) != visited_.end()) continue;
    if (visit.in_block) visited_.push_back(visit.object);
    const SyncObject& object = objects_[visit.object];
    for (const Knowledge* known : {&object.for_all, visit.in_block ? &object.in_block : nullptr}) {
      if (!known) continue;
      if (knows(*known, other.block, other.warp, segment)) return true;
      for (const std::uint32_t parent : known->parents) visit_.push_back({parent, true});
    }
  }
  return false;
}

void Segments::fence(WarpContext& context, bool for_all) {
  context.fenced_in_block = next_ - 1;
  context.block->fenced_in_block = true;
  if (for_all) {
    context.fenced = next_ - 1;
    context.block->fenced = true;
  }
  context.segment = 0;
  fenced_ = true;
}

void Segments::release_(Knowledge& into, std::uint32_t object, const WarpContext& context,
                        std::uint32_t own) {
  const Block& block = *context.block;
  if (own) {
    raise(into.released, key_of(block.number, context.warp.warp_index), own);
    raise(into.released, key_of(block.number, several_warps), own);
  }
  raise(into.released, key_of(block.number, whole_block), block.barrier_floor);
  for (std::uint32_t w = 0; w < block.warp_count; ++w)
    if (context.known[w]) raise(into.released, key_of(block.number, w), context.known[w]);
  for (const auto* acquired : {&context.acquired, &block.acquired})
    for (const std::uint32_t parent : *acquired)
      if (parent != object) add_once(into.parents, parent);
}

void Segments::strong_access(WarpContext& context, const Region& region, std::int64_t offset,
                             Ordering ordering, bool reads, bool writes) {
  Block& block = *context.block;
  const bool itself = writes && (ordering == release || ordering == acquire_release);
  const bool for_all = itself || (writes && (context.fenced || block.fenced));
  const bool in_block = writes && (for_all ? context.fenced_in_block > context.fenced
                                           : context.fenced_in_block || block.fenced_in_block);
  const bool releases = for_all || in_block;
  if (!releases && by_location_.empty()) return;
  const std::uint64_t location =
      (reinterpret_cast<std::uintptr_t>(region.data) + static_cast<std::uint64_t>(offset)) >> 2;
  const auto found = by_location_.find(location);
  std::uint32_t object = found == by_location_.end() ? ~0u : found->second;
  if (reads && object != ~0u) {
    add_once(context.acquired, object);
    context.acquired_floor = next_;
    context.segment = 0;
  }
  if (!releases) return;
  if (object == ~0u) {
    if (objects_.size() >= max_sync_objects) {
      gave_up_ = true;
      return;
    }
    object = static_cast<std::uint32_t>(objects_.size());
    objects_.emplace_back();
    by_location_.emplace(location, object);
  }
  SyncObject& target = objects_[object];
  if (for_all) release_(target.for_all, object, context, itself ? next_ - 1 : context.fenced);
  if (in_block && !itself) release_(target.in_block, object, context, context.fenced_in_block);
  context.segment = 0; // what follows is not released
}

} // namespace assay::cpu
