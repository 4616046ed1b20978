// Block-wide barriers. A warp arrives as its 32 threads when all its living lanes do (as the hardware
// counts); a warp that has exited counts as arrived wherever a barrier expects the whole block. All warps of
// a block that opens a barrier for the whole block must stand at the same source line: arriving at different
// ones is a `barrier` fault, as CUDA C++ defines __syncthreads; barriers that name their participants (a
// count, producer and consumer warps) may have several places.
#pragma once

#include "harness/device/cpu/runtime/warp_context.h"

namespace assay::cpu {

// Opens barriers that waited for this exit only.
void warp_exited(Block& block);

// All remaining warps of the block wait at barriers that can never open: a `barrier` fault that says who
// waits where.
void report_stuck_block(Launch& launch, Block& block);

} // namespace assay::cpu
