// Which lanes of a warp wait where: the state of one running function, and the choice of what runs next.
// Emitted code keeps a Flow in its frame and calls these where its lanes part; while they stay together it
// only looks at `lowest`.
#pragma once

#include "harness/device/cpu/runtime/abi.h"

#include <cstdint>

namespace assay::cpu {

inline constexpr std::uint32_t no_block = 0xffffffff;

struct Flow {
  std::uint32_t active; // lanes that enter the block being jumped to
  std::uint32_t
      lowest; // the first block in program order with lanes that may run; no_block: none; 0: ask anyway
  std::uint32_t current; // the block chosen last
  std::uint32_t
      rotate; // choose the next block after `current` instead of the lowest (fairness in spin loops)
  std::uint32_t forced; // a block whose wait for others is over, because no others can run
  std::uint32_t blocks;
  std::uint32_t* waiting;   // by block: lanes that stand before it
  std::uint64_t* runnable;  // by block, a bit: lanes stand before it and nobody knows them to wait in vain
  const Site* const* sites; // by block: where its waiting instruction stands, or null
};

extern "C" {
void assay_flow_begin(Flow* flow, std::uint32_t blocks, std::uint32_t* waiting, std::uint64_t* runnable,
                      const Site* const* sites);
// `lanes` stand before `block` now.
void assay_flow_wait(Flow* flow, std::uint32_t block, std::uint32_t lanes);
// The block that runs next, its lanes in flow->active; flow->blocks where no lanes are left. Lanes that wait
// for others that cannot come end the launch (assay_diverged).
std::uint32_t assay_flow_next(Warp* warp, Flow* flow);
// `lanes` came to a synchronisation for the lanes in `members` (each lane's own mask). The lanes that go on
// together; 0: none yet, they wait, and another block must be chosen.
std::uint32_t assay_flow_gather(Warp* warp, Flow* flow, std::uint32_t block, std::uint32_t lanes,
                                const std::uint32_t* members);
// The same for a synchronisation that goes on once no other lane can run.
std::uint32_t assay_flow_gather_last(Warp* warp, Flow* flow, std::uint32_t block, std::uint32_t lanes);
// Lanes exited: whoever waited may be waiting for nobody now.
void assay_flow_exited(Flow* flow);
// The warp's time slice ended.
void assay_flow_tick(Warp* warp, Flow* flow, const Site* site);
}

} // namespace assay::cpu
