// Rewrites a guarded instruction that may wait, call or end a lane's path without being a branch, into a
// branch around the bare instruction, so that later passes meet guards only on instructions that are plain
// selects.
#pragma once

#include "harness/device/cpu/ptx/ast.h"

namespace assay::cpu {

// The added branches name their target by position: an operand of kind integer.
void branch_around_guarded_waits(ptx::Function& function);

} // namespace assay::cpu
