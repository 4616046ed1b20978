#include "harness/device/cpu/runtime/warp_context.h"

#include <fmt/format.h>

namespace assay::cpu {

std::string block_name(const WarpContext& context) {
  const std::uint32_t* id = context.warp.ctaid;
  return fmt::format("block ({},{},{})", id[0], id[1], id[2]);
}

std::string thread_name(const WarpContext& context, unsigned lane) {
  const Warp& warp = context.warp;
  return fmt::format("thread ({},{},{}) of {}", warp.tid_x[lane], warp.tid_y[lane], warp.tid_z[lane],
                     block_name(context));
}

void fatal_fault(WarpContext& context, Kind kind, std::string&& buffer, const Site& site,
                 std::string&& message) {
  Launch& launch = *context.launch;
  launch.faults.record(kind, std::move(buffer), launch.faults.place_of(site), std::move(message));
  launch.ended = true;
  launch.fibers.abandon(context.fiber);
}

void switch_away(WarpContext& context) { context.launch->fibers.suspend(context.fiber); }

namespace {

std::string timeout_text(const WarpContext& context, const Site& site) {
  const Launch& launch = *context.launch;
  return fmt::format("timeout: warp {} of {} executed more than {} basic blocks, last at {}",
                     context.warp.warp_index, block_name(context), launch.step_budget,
                     launch.faults.place_text(site));
}

} // namespace

void assay_tick(Warp* warp, const Site* site) {
  WarpContext& context = context_of(warp);
  context.steps += static_cast<std::uint64_t>(context.granted - warp->steps_until_tick);
  const std::uint64_t budget = context.launch->step_budget;
  if (context.steps > budget) fatal_fault(context, Kind::timeout, "", *site, timeout_text(context, *site));
  const auto left = static_cast<std::int64_t>(budget - context.steps);
  warp->steps_until_tick = context.granted = left + 1 < quantum_steps ? left + 1 : quantum_steps;
  switch_away(context);
}

std::uint64_t assay_clock(Warp* warp) {
  const WarpContext& context = context_of(warp);
  return context.steps + static_cast<std::uint64_t>(context.granted - warp->steps_until_tick);
}

} // namespace assay::cpu
