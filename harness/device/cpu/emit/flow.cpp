#include "harness/device/cpu/emit/flow.h"

#include <bit>

namespace assay::cpu {
namespace {

constexpr std::uint32_t word_bits = 64;

std::uint32_t words(const Flow& flow) { return (flow.blocks + word_bits - 1) / word_bits; }

// The first runnable block at or after `from`; no_block: none.
std::uint32_t first_runnable(const Flow& flow, std::uint32_t from) {
  std::uint32_t word = from / word_bits;
  if (word >= words(flow)) return no_block;
  std::uint64_t bits = flow.runnable[word] & (~std::uint64_t{0} << (from % word_bits));
  while (bits == 0) {
    if (++word == words(flow)) return no_block;
    bits = flow.runnable[word];
  }
  return word * word_bits + static_cast<std::uint32_t>(std::countr_zero(bits));
}

void set_runnable(Flow& flow, std::uint32_t block) {
  flow.runnable[block / word_bits] |= std::uint64_t{1} << (block % word_bits);
}
void clear_runnable(Flow& flow, std::uint32_t block) {
  flow.runnable[block / word_bits] &= ~(std::uint64_t{1} << (block % word_bits));
}

// A block with waiting lanes whose wait ends when nobody else runs; no_block: none.
std::uint32_t patient_block(const Flow& flow) {
  for (std::uint32_t b = 0; b < flow.blocks; ++b)
    if (flow.waiting[b] != 0 && flow.sites[b] == nullptr) return b;
  return no_block;
}

void stuck(Warp* warp, const Flow& flow) {
  for (std::uint32_t b = 0; b < flow.blocks; ++b)
    if (flow.waiting[b] != 0)
      assay_diverged(warp, flow.waiting[b], warp->alive & ~flow.waiting[b], flow.sites[b]);
}

} // namespace

extern "C" {

void assay_flow_begin(Flow* flow, std::uint32_t blocks, std::uint32_t* waiting, std::uint64_t* runnable,
                      const Site* const* sites) {
  *flow = {0, no_block, 0, 0, no_block, blocks, waiting, runnable, sites};
  for (std::uint32_t b = 0; b < blocks; ++b) waiting[b] = 0;
  for (std::uint32_t w = 0; w < words(*flow); ++w) runnable[w] = 0;
}

void assay_flow_wait(Flow* flow, std::uint32_t block, std::uint32_t lanes) {
  if (lanes == 0) return;
  flow->waiting[block] |= lanes;
  set_runnable(*flow, block);
}

std::uint32_t assay_flow_next(Warp* warp, Flow* flow) {
  std::uint32_t chosen = no_block;
  if (flow->rotate != 0) {
    flow->rotate = 0;
    chosen = first_runnable(*flow, flow->current + 1);
  }
  if (chosen == no_block) chosen = first_runnable(*flow, 0);
  if (chosen == no_block) {
    bool anyone = false;
    for (std::uint32_t b = 0; b < flow->blocks && !anyone; ++b) anyone = flow->waiting[b] != 0;
    if (!anyone) return flow->blocks;
    chosen = patient_block(*flow);
    if (chosen == no_block) stuck(warp, *flow);
    flow->forced = chosen;
  }
  flow->current = chosen;
  flow->active = flow->waiting[chosen];
  flow->waiting[chosen] = 0;
  clear_runnable(*flow, chosen);
  flow->lowest = first_runnable(*flow, 0);
  return chosen;
}

std::uint32_t assay_flow_gather(Warp* warp, Flow* flow, std::uint32_t block, std::uint32_t lanes,
                                const std::uint32_t* members) {
  const std::uint32_t here = lanes | flow->waiting[block];
  std::uint32_t group = 0;
  for (std::uint32_t left = here; left != 0; left &= ~group) {
    const std::uint32_t mask = members[std::countr_zero(left)];
    group = 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      if ((left >> lane & 1) != 0 && members[lane] == mask) group |= 1u << lane;
    if ((mask & warp->alive & ~group) != 0) continue;
    if ((group & ~mask) != 0) assay_unnamed(warp, group & ~mask, flow->sites[block]);
    flow->waiting[block] = here & ~group;
    if (flow->waiting[block] != 0)
      set_runnable(*flow, block);
    else
      clear_runnable(*flow, block);
    flow->lowest = first_runnable(*flow, 0);
    return group;
  }
  flow->waiting[block] = here;
  clear_runnable(*flow, block);
  return 0;
}

std::uint32_t assay_flow_gather_last(Warp* warp, Flow* flow, std::uint32_t block, std::uint32_t lanes) {
  static_cast<void>(warp);
  const std::uint32_t here = lanes | flow->waiting[block];
  flow->waiting[block] = 0;
  clear_runnable(*flow, block);
  if (flow->forced == block || first_runnable(*flow, 0) == no_block) {
    flow->forced = no_block;
    return here;
  }
  flow->waiting[block] = here;
  return 0;
}

void assay_flow_exited(Flow* flow) {
  for (std::uint32_t b = 0; b < flow->blocks; ++b)
    if (flow->waiting[b] != 0) set_runnable(*flow, b);
}

void assay_flow_tick(Warp* warp, Flow* flow, const Site* site) {
  assay_tick(warp, site);
  if (flow->lowest == no_block) return;
  flow->rotate = 1;
  flow->lowest = 0;
}

} // extern "C"

} // namespace assay::cpu
