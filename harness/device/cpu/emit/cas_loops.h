// The read before a loop of compare-and-swap. CUDA's own guide begins such a loop by a plain read of what
// others may change by atomics (CUDA C++ Programming Guide, "Atomic Functions"): whatever it reads, the swap
// compares it with what is there, so no order is missing. Such a read counts as relaxed: it races with plain
// writes, but not with atomics.
#pragma once

#include "harness/device/cpu/ptx/ast.h"

namespace assay::cpu {

// Marks every plain load whose register a compare-and-swap at the same address compares, directly or through
// moves.
void relax_reads_of_swaps(ptx::Function& function);

} // namespace assay::cpu
