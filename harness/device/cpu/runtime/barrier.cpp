#include "harness/device/cpu/runtime/barrier.h"

#include "harness/device/cpu/runtime/scheduler.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::cpu {
namespace {

std::uint32_t whole_block(const Block& block) { return block.warp_count * warp_lanes; }
bool expects_whole_block(const Block& block, const BarrierState& barrier) {
  return barrier.expected == 0 || barrier.expected >= block.thread_count;
}

// Threads that arrived, those that exited included where the barrier expects the whole block.
std::uint32_t arrived_threads(const Block& block, const BarrierState& barrier) {
  std::uint32_t count = 0;
  const bool whole = expects_whole_block(block, barrier);
  for (std::uint32_t w = 0; w < block.warp_count; ++w) {
    const std::uint32_t alive = block.warps[w]->warp.alive;
    const std::uint32_t arrived = barrier.lanes[w];
    if (arrived ? (alive & ~arrived) == 0 : whole && alive == 0)
      count += warp_lanes;
    else
      count += static_cast<std::uint32_t>(std::popcount(arrived));
  }
  return count;
}

bool complete(const Block& block, const BarrierState& barrier) {
  const std::uint32_t needed = expects_whole_block(block, barrier) ? whole_block(block) : barrier.expected;
  return arrived_threads(block, barrier) >= needed;
}

std::uint32_t result_of(const BarrierState& barrier, BarrierMode mode) {
  switch (mode) {
  case BarrierMode::reduce_popc:
    return barrier.popc;
  case BarrierMode::reduce_and:
    return barrier.every ? ~0u : 0;
  case BarrierMode::reduce_or:
    return barrier.any ? ~0u : 0;
  case BarrierMode::sync:
  case BarrierMode::arrive:
    break;
  }
  return 0;
}

void learn(WarpContext& context, const BarrierState& barrier) {
  for (std::uint32_t w = 0; w < context.block->warp_count; ++w)
    context.known[w] = std::max(context.known[w], barrier.known[w]);
  context.acquired_floor = context.launch->segments.next();
  context.segment = 0;
}

// What the race check learns: a barrier of the whole block orders everything before it, a partial one what
// its participants did and knew.
void order(Block& block, const BarrierState& barrier) {
  const std::uint32_t next = block.launch->segments.next();
  if (expects_whole_block(block, barrier)) {
    block.barrier_floor = next;
    for (std::uint32_t w = 0; w < block.warp_count; ++w) {
      WarpContext& context = *block.warps[w];
      if (context.acquired.empty()) continue;
      for (const std::uint32_t object : context.acquired)
        if (std::ranges::find(block.acquired, object) == block.acquired.end())
          block.acquired.push_back(object);
      context.acquired.clear();
      block.acquired_floor = next;
    }
    return;
  }
  for (std::uint32_t waiting = barrier.waiting; waiting; waiting &= waiting - 1)
    learn(*block.warps[static_cast<std::size_t>(std::countr_zero(waiting))], barrier);
  block.several = 0;
}

// The warp's own part of that at its arrival.
void teach(WarpContext& context, BarrierState& barrier) {
  const std::uint32_t self = context.warp.warp_index;
  for (std::uint32_t w = 0; w < context.block->warp_count; ++w)
    barrier.known[w] = std::max(barrier.known[w], context.known[w]);
  barrier.known[self] = context.launch->segments.next() - 1;
  context.segment = 0;
}

void open(Block& block, std::uint32_t id) {
  BarrierState& barrier = block.barriers[id];
  order(block, barrier);
  for (std::uint32_t waiting = barrier.waiting; waiting; waiting &= waiting - 1) {
    WarpContext& context = *block.warps[static_cast<std::size_t>(std::countr_zero(waiting))];
    context.barrier_result = result_of(barrier, context.barrier_site->mode);
    make_ready(context);
  }
  barrier = {};
  block.used_barriers &= ~(1u << id);
}

bool same_place(const Site& a, const Site& b) {
  if (a.source_file && b.source_file) return a.source_file == b.source_file && a.source_line == b.source_line;
  return a.ptx_line == b.ptx_line;
}

std::string mismatch_text(const WarpContext& context, const Site& here, const Site& there, std::uint32_t id) {
  const FaultLog& faults = context.launch->faults;
  return fmt::format("barrier: the warps of {} meet at barrier {} from different places, {} and {} (warp {})",
                     block_name(context), id, faults.place_text(there), faults.place_text(here),
                     context.warp.warp_index);
}
std::string count_text(const WarpContext& context, const Site& site, std::uint32_t id, std::uint32_t count) {
  return fmt::format(
      "barrier: warp {} of {} arrives at barrier {} for {} threads, where others expect {} (0: all), {}",
      context.warp.warp_index, block_name(context), id, count, context.block->barriers[id].expected,
      context.launch->faults.place_text(site));
}
std::string operand_text(const WarpContext& context, const Site& site, std::uint32_t id,
                         std::uint32_t count) {
  return fmt::format(
      "barrier: barrier {} with {} threads by warp {} of {} (barriers are 0 to 15, counts multiples of 32 "
      "up to the block's threads), {}",
      id, count, context.warp.warp_index, block_name(context), context.launch->faults.place_text(site));
}

std::string stuck_text(const Block& block) {
  std::string text;
  std::uint32_t absent = 0;
  for (std::uint32_t w = 0; w < block.warp_count; ++w) {
    const WarpContext& context = *block.warps[w];
    if (context.state != WarpState::waiting) {
      ++absent;
      continue;
    }
    if (text.size() > 400) continue;
    const BarrierState& barrier = block.barriers[context.barrier];
    text += fmt::format("{}warp {} at barrier {} ({} of {} threads arrived), {}", text.empty() ? "" : "; ", w,
                        context.barrier, arrived_threads(block, barrier),
                        expects_whole_block(block, barrier) ? whole_block(block) : barrier.expected,
                        block.launch->faults.place_text(context.barrier_site->site));
  }
  return fmt::format("barrier: {} can never go on: {}; {} of its {} warps exited",
                     block_name(*block.warps[0]), text, absent, block.warp_count);
}

} // namespace

void warp_exited(Block& block) {
  for (std::uint32_t used = block.used_barriers; used; used &= used - 1) {
    const auto id = static_cast<std::uint32_t>(std::countr_zero(used));
    if (complete(block, block.barriers[id])) open(block, id);
  }
}

void report_stuck_block(Launch& launch, Block& block) {
  Site site{};
  for (std::uint32_t w = 0; w < block.warp_count; ++w)
    if (block.warps[w]->state == WarpState::waiting) {
      site = block.warps[w]->barrier_site->site;
      break;
    }
  launch.faults.record(Kind::barrier, "", launch.faults.place_of(site), stuck_text(block));
  launch.ended = true;
}

std::uint32_t assay_barrier(Warp* warp, std::uint32_t lanes, const BarrierSite* site, std::uint32_t id,
                            std::uint32_t count, std::uint32_t predicate) {
  WarpContext& context = context_of(warp);
  Block& block = *context.block;
  if (id >= barrier_count || count % warp_lanes != 0 || count > whole_block(block))
    fatal_fault(context, Kind::barrier, "", site->site, operand_text(context, site->site, id, count));
  BarrierState& barrier = block.barriers[id];
  const bool first = !barrier.first_site;
  if (first) {
    barrier.first_site = site;
    barrier.expected = count;
    block.used_barriers |= 1u << id;
  } else if (barrier.expected != count) {
    fatal_fault(context, Kind::barrier, "", site->site, count_text(context, site->site, id, count));
  }
  if (!expects_whole_block(block, barrier)) teach(context, barrier);
  const bool arrives_only = site->mode == BarrierMode::arrive;
  if (!first && !arrives_only && barrier.first_site->mode != BarrierMode::arrive &&
      expects_whole_block(block, barrier) && !same_place(barrier.first_site->site, site->site))
    fatal_fault(context, Kind::barrier, "",
                stands_before(site->site, barrier.first_site->site) ? site->site : barrier.first_site->site,
                mismatch_text(context, site->site, barrier.first_site->site, id));
  barrier.lanes[warp->warp_index] |= lanes;
  barrier.popc += static_cast<std::uint32_t>(std::popcount(predicate & lanes));
  barrier.every &= (predicate & lanes) == lanes;
  barrier.any |= (predicate & lanes) != 0;
  if (arrives_only) {
    if (complete(block, barrier)) open(block, id);
    return 0;
  }
  if (complete(block, barrier)) {
    const std::uint32_t result = result_of(barrier, site->mode);
    if (!expects_whole_block(block, barrier)) learn(context, barrier);
    open(block, id);
    if (block.ready_count) switch_away(context); // who goes on first is drawn
    return result;
  }
  barrier.waiting |= 1u << warp->warp_index;
  context.barrier = id;
  context.barrier_site = site;
  context.state = WarpState::waiting;
  switch_away(context);
  return context.barrier_result;
}

} // namespace assay::cpu
