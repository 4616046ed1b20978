// Splits a function's instructions into basic blocks.
//
// An instruction that may wait for other lanes of its warp (a shuffle, a vote, a barrier) begins a block, so
// that lanes can gather there; a further one in the same straight line does not, where the first has already
// gathered all lanes that it names. Runs after branch_around_guarded_waits (unguard.h).
#pragma once

#include "harness/base/error.h"
#include "harness/device/cpu/ptx/ast.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::cpu {

enum class Wait : std::uint8_t {
  none,
  named,            // for the lanes that the instruction's member mask names
  all,              // for every lane of the warp that is alive (aligned barriers)
  nobody_else_runs, // until no other lane of the warp can run (barriers that lanes may reach one by one)
};

enum class Ending : std::uint8_t {
  falls,    // into successors[0]
  jumps,    // to successors[0]
  branches, // condition: to successors[0], else successors[1]
  table,    // brx.idx: to one of the successors
  returns,  // ret; with a condition, the others go to successors[0]
  exits,    // exit; likewise
  traps,    // trap, or a call that does not come back
};

struct Block {
  std::uint32_t first = 0, end = 0;    // instructions that are emitted in order, without the ending one
  std::uint32_t ender = ptx::no_index; // the instruction behind `ending`, for its line
  Wait wait = Wait::none;
  Ending ending = Ending::falls;
  std::uint32_t condition = ptx::no_index; // predicate register
  bool condition_negated = false;
  std::vector<std::uint32_t> successors;
};

Wait wait_of(const ptx::Instruction& instruction);

// In program order; block 0 is the entry.
Result<std::vector<Block>> split_blocks(const ptx::Function& function, std::string_view origin);

} // namespace assay::cpu
