// What a launch's schedule does beyond the order of blocks and warps, so that states are seen which that
// order alone never shows: blocks that take turns, and lanes of a warp that are not in step. Drawn from the
// schedule seed, apart from the order's own draws.
#pragma once

#include "harness/device/cpu/runtime/random.h"

#include <algorithm>
#include <cstdint>

namespace assay::cpu {

struct Access;
struct WarpContext;

inline constexpr std::uint32_t most_in_turn = 8; // blocks

struct Interleaving {
  // Blocks that take turns: before a strong access to global memory one in four warps gives way to another of
  // so many resident blocks, or to one more that starts. 1: a block runs on as long as one of its warps can.
  std::uint32_t blocks = 1;
  bool gives_way = false; // the slice that just ended: its warp gave way
  // See earlier_values.h.
  bool lanes_apart = false;
  ScheduleRandom random{0};

  // Each of the two is in half of the launches.
  void start(std::uint64_t seed, std::uint64_t block_total) {
    random = ScheduleRandom(seed ^ 0x5bf03635f0a31e1du);
    const std::uint64_t bits = random.next();
    const std::uint32_t drawn = (bits & 1) != 0 ? 2 + random.below(most_in_turn - 1) : 1;
    blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(drawn, block_total));
    lanes_apart = (bits & 2) != 0;
    gives_way = false;
  }
};

// Called before a strong access by `lanes`; returns when the warp runs again.
void may_give_way(WarpContext& context, std::uint32_t lanes, const Access& access,
                  const std::uint64_t* addresses);

} // namespace assay::cpu
