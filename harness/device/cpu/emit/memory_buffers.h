// One vector of a load or store of the warp, for instructions that make several.
#pragma once

#include "harness/device/cpu/emit/function_emitter.h"

namespace assay::cpu {

// Each lane's `bits` from its address; undefined lanes join the instruction's.
llvm::Value* load_lanes(FunctionEmitter& e, const ptx::Instruction& i, Space space, llvm::Value* addresses,
                        unsigned bits);
// With the instruction's undefined lanes.
void store_lanes(FunctionEmitter& e, const ptx::Instruction& i, Space space, llvm::Value* addresses,
                 llvm::Value* value);

} // namespace assay::cpu
