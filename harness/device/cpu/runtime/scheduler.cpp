#include "harness/device/cpu/runtime/scheduler.h"

#include "harness/base/check.h"
#include "harness/device/cpu/runtime/barrier.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::cpu {
namespace {

// Thread coordinates depend on the block's shape only, so that a warp used again for such a block keeps them.
void shape_threads(WarpContext& context, const Launch& launch, std::uint32_t index) {
  Warp& warp = context.warp;
  const std::uint32_t* shape = launch.block;
  if (warp.warp_index == index && std::equal(shape, shape + 3, context.shaped_for)) return;
  std::copy(shape, shape + 3, context.shaped_for);
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const std::uint32_t thread = index * warp_lanes + lane;
    warp.tid_x[lane] = thread % shape[0];
    warp.tid_y[lane] = thread / shape[0] % shape[1];
    warp.tid_z[lane] = thread / shape[0] / shape[1];
  }
  std::copy(shape, shape + 3, warp.ntid);
  warp.warp_index = index;
}

void run_warp(void* argument) {
  auto& context = *static_cast<WarpContext*>(argument);
  context.launch->entry->function(&context.warp);
}

void start_shared(Block& block, const Launch& launch) {
  Region& shared = block.shared;
  const std::uint32_t bytes = launch.shared_window;
  if (block.shared_storage.size() < bytes) block.shared_storage.resize(bytes);
  shared.data = block.shared_storage.data();
  shared.kind = RegionKind::shared;
  shared.name = "shared";
  shared.bytes = bytes;
  shared.undefined = nullptr;
  shared.pieces = &launch.shared_pieces;
  shared.begin = shared.end = 0;
  if (bytes == 0) return;
  poison(shared.data, 0, bytes);
  shared.races = launch.checks.races ? &shared.race_shadow : nullptr;
  if (launch.checks.undefined) {
    shared.undefined_bits.assign(bytes, true);
    shared.undefined = shared.undefined_bits.words();
  }
  const std::uint32_t zeroed = launch.entry->zeroed_shared_bytes;
  std::fill_n(shared.data, zeroed, std::byte{0});
  if (shared.undefined) clear_range(shared.undefined, 0, zeroed);
}

} // namespace

void make_ready(WarpContext& context) {
  Block& block = *context.block;
  context.state = WarpState::ready;
  block.ready[block.ready_count++] = static_cast<std::uint8_t>(context.warp.warp_index);
}

WarpContext* Scheduler::acquire_warp_() {
  if (free_warps_.empty()) {
    warps_.push_back(std::make_unique<WarpContext>());
    warps_.back()->warp.warp_index = ~0u;
    warps_.back()->local.kind = RegionKind::local;
    warps_.back()->local.name = "local memory";
    return warps_.back().get();
  }
  WarpContext* context = free_warps_.back();
  free_warps_.pop_back();
  return context;
}

void Scheduler::start_block_(Launch& launch, std::uint64_t number) {
  if (free_blocks_.empty()) {
    blocks_.push_back(std::make_unique<Block>());
    free_blocks_.push_back(blocks_.back().get());
  }
  Block& block = *free_blocks_.back();
  free_blocks_.pop_back();
  resident_.push_back(&block);
  block.launch = &launch;
  block.number = number;
  block.thread_count = launch.block[0] * launch.block[1] * launch.block[2];
  block.warp_count = (block.thread_count + warp_lanes - 1) / warp_lanes;
  block.finished = 0;
  block.ready_count = 0;
  block.idle_slices = 0;
  for (std::uint32_t used = block.used_barriers; used; used &= used - 1)
    block.barriers[static_cast<std::size_t>(std::countr_zero(used))] = {};
  block.used_barriers = 0;
  block.barrier_floor = launch.segments.next();
  block.several = block.acquired_floor = 0;
  block.fenced = block.fenced_in_block = false;
  block.acquired.clear();
  start_shared(block, launch);
  resident_warps_ += block.warp_count;

  const std::uint32_t x = static_cast<std::uint32_t>(number % launch.grid[0]);
  const std::uint32_t y = static_cast<std::uint32_t>(number / launch.grid[0] % launch.grid[1]);
  const std::uint32_t z = static_cast<std::uint32_t>(number / launch.grid[0] / launch.grid[1]);
  for (std::uint32_t index = 0; index < block.warp_count; ++index) {
    WarpContext& context = *acquire_warp_();
    Warp& warp = context.warp;
    shape_threads(context, launch, index);
    warp.ctaid[0] = x;
    warp.ctaid[1] = y;
    warp.ctaid[2] = z;
    std::copy(launch.grid, launch.grid + 3, warp.nctaid);
    warp.warp_count = block.warp_count;
    const std::uint32_t threads = std::min(block.thread_count - index * warp_lanes, warp_lanes);
    warp.alive = threads == warp_lanes ? ~0u : (1u << threads) - 1;
    warp.dynamic_shared = launch.dynamic_shared;
    warp.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    warp.steps_until_tick = context.granted = quantum_steps;
    warp.block_counters = launch.module->block_counters.data();
    warp.grid_id = launch.grid_id;
    context.launch = &launch;
    context.block = &block;
    context.steps = 0;
    context.origin = {};
    context.partials.clear();
    context.copies.clear();
    context.earlier.forget();
    context.spin_site = ~0u;
    context.looks = 0;
    context.spun = false;
    context.segment = context.latest_segment = context.trusted_segment = context.fenced =
        context.fenced_in_block = context.acquired_floor = 0;
    context.known.fill(0);
    context.acquired.clear();
    context.local_top = 0;
    context.local.end = 0;
    context.local.undefined = launch.checks.undefined ? context.local.undefined_bits.words() : nullptr;
    context.fiber = launch.fibers.acquire(&run_warp, &context);
    block.warps[index] = &context;
    make_ready(context);
  }
}

void Scheduler::retire_(Block* block) {
  Launch& launch = *block->launch;
  for (std::uint32_t i = block->warp_count; i-- > 0;) {
    WarpContext* context = block->warps[i];
    launch.steps +=
        context->steps + static_cast<std::uint64_t>(context->granted - context->warp.steps_until_tick);
    launch.fibers.release(context->fiber);
    free_warps_.push_back(context);
  }
  resident_warps_ -= block->warp_count;
  free_blocks_.push_back(block);
}

// Lets one warp, drawn from those that are ready, go on until it waits, yields or finishes.
bool Scheduler::run_slice_(Launch& launch, Block& block) {
  const std::uint32_t pick = block.ready_count == 1 ? 0 : launch.random.below(block.ready_count);
  WarpContext& context = *block.warps[block.ready[pick]];
  block.ready[pick] = block.ready[--block.ready_count];
  context.spun = false;
  launch.fibers.resume(context.fiber);
  if (launch.ended) return true;
  if (context.fiber->finished) {
    context.state = WarpState::finished;
    context.warp.alive = 0;
    ++block.finished;
    warp_exited(block);
  } else if (context.state == WarpState::ready) {
    make_ready(context);
  }
  // A warp that gave way between two looks may be one that only spins.
  const bool looks = launch.interleaving.gives_way && context.spin_site != ~0u;
  if (context.spun)
    ++block.idle_slices;
  else if (!looks)
    block.idle_slices = 0;
  return !context.spun && !looks;
}

std::size_t Scheduler::next_turn_(Launch& launch, const Permutation& order) {
  Interleaving& interleaving = launch.interleaving;
  const auto resident = static_cast<std::uint32_t>(resident_.size());
  const std::uint32_t drawn = interleaving.random.below(std::max(interleaving.blocks, resident));
  if (drawn < resident) return drawn;
  if (launch.blocks_started == launch.block_total) return drawn % resident;
  start_block_(launch, order.at(launch.blocks_started++));
  return resident;
}

void Scheduler::run(Launch& launch) {
  const Permutation order(launch.block_total, launch.random.next());
  std::size_t cursor = 0;
  std::size_t idle_blocks = 0; // resident blocks in a row in which all warps only spin
  while (!launch.ended) {
    if (resident_.empty()) {
      if (launch.blocks_started == launch.block_total) break;
      start_block_(launch, order.at(launch.blocks_started++));
      cursor = 0;
      idle_blocks = 0;
    }
    Block& block = *resident_[cursor];
    if (block.ready_count == 0) {
      if (block.finished < block.warp_count) {
        report_stuck_block(launch, block);
        break;
      }
      retire_(&block);
      resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(cursor));
      if (cursor == resident_.size()) cursor = 0;
      idle_blocks = 0;
      continue;
    }
    launch.interleaving.gives_way = false;
    if (run_slice_(launch, block)) idle_blocks = 0;
    if (launch.ended) break;
    if (launch.interleaving.gives_way) cursor = next_turn_(launch, order);
    if (block.idle_slices < 2 * std::max(block.ready_count, 1u)) continue;
    block.idle_slices = 0;
    ++idle_blocks;
    cursor = (cursor + 1) % resident_.size();
    if (idle_blocks < resident_.size()) continue;
    idle_blocks = 0;
    if (launch.blocks_started < launch.block_total &&
        resident_warps_ + block.warp_count <= max_resident_warps) {
      start_block_(launch, order.at(launch.blocks_started++));
      cursor = resident_.size() - 1;
    }
  }
  for (Block* block : resident_) retire_(block);
  resident_.clear();
}

} // namespace assay::cpu
