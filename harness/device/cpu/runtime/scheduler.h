// Runs the blocks and warps of a launch to their end or to the first fatal fault.
#pragma once

#include "harness/device/cpu/runtime/warp_context.h"

#include <memory>
#include <vector>

namespace assay::cpu {

// Warps that may be resident at once, of all blocks together: more blocks start only while all resident ones
// spin.
inline constexpr std::uint32_t max_resident_warps = 16384;

class Scheduler {
 public:
  // The launch's geometry, entry, parameters and seed are set.
  void run(Launch& launch);

 private:
  void start_block_(Launch& launch, std::uint64_t number);
  // Whether it did more than look at what others may change.
  bool run_slice_(Launch& launch, Block& block);
  // The place among the resident blocks of the one whose turn it is now; it may be one that starts.
  std::size_t next_turn_(Launch& launch, const Permutation& order);
  void retire_(Block* block);
  WarpContext* acquire_warp_();

  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Block*> free_blocks_;
  std::vector<std::unique_ptr<WarpContext>> warps_;
  std::vector<WarpContext*> free_warps_;
  std::vector<Block*> resident_;
  std::uint32_t resident_warps_ = 0;
};

// Puts a warp of the block that waited among those that may run.
void make_ready(WarpContext& context);

} // namespace assay::cpu
