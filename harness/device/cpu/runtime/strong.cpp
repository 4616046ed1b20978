#include "harness/device/cpu/runtime/strong.h"

#include <bit>

namespace assay::cpu {
namespace {

constexpr std::uint32_t spins_before_yield = 3, looks_before_yield = 64;

void synchronise(WarpContext& context, std::uint32_t lanes, const Access& access, const Checked& at,
                 unsigned size, bool reads, bool writes) {
  Segments& segments = context.launch->segments;
  const auto ordering = static_cast<Ordering>(access.ordering);
  if (!context.launch->checks.races || !segments.synchronises(ordering)) return;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1)
    segments.strong_access(context, *at.region,
                           at.offset_of(static_cast<unsigned>(std::countr_zero(rest)), size), ordering, reads,
                           writes);
}

} // namespace

void count_spin(WarpContext& context, const Access& access) {
  if (context.spin_site != access.site.id) {
    context.spin_site = access.site.id;
    context.spin_count = 0;
  }
  ++context.spin_count;
  if (++context.looks < looks_before_yield && context.spin_count < spins_before_yield) return;
  context.spin_count = context.looks = 0;
  context.spun = true;
  Warp& warp = context.warp;
  if (warp.steps_until_tick <= 1) return;
  context.granted -= warp.steps_until_tick - 1; // steps counted so far stay counted
  warp.steps_until_tick = 1;
}

void strong_load(WarpContext& context, std::uint32_t lanes, const Access& access, const Checked& at,
                 unsigned size) {
  count_spin(context, access);
  synchronise(context, lanes, access, at, size, true, false);
}

void strong_store(WarpContext& context, std::uint32_t lanes, const Access& access, const Checked& at,
                  unsigned size) {
  context.spin_site = ~0u;
  context.looks = 0;
  synchronise(context, lanes, access, at, size, false, true);
}

void strong_atomic(WarpContext& context, std::uint32_t lanes, const Access& access, const Checked& at,
                   unsigned size, bool changed) {
  if (changed) {
    context.spin_site = ~0u;
    context.looks = 0;
  } else {
    count_spin(context, access);
  }
  synchronise(context, lanes, access, at, size, true, true);
}

} // namespace assay::cpu
