// Registers of which only some bytes are undefined: instructions that treat bits or parts apart say so here.
// All that is emitted runs only where some lane is undefined.
#pragma once

#include "harness/device/cpu/emit/function_emitter.h"

#include <span>

namespace assay::cpu {

// The undefined lanes of the packed register: those of any part. Which part they are of is noted, so that
// unpacking it finds the others defined. parts: undefined lanes, from the lowest part on, null for none.
llvm::Value* packed_undefined(FunctionEmitter& e, llvm::Value* whole, unsigned bits,
                              std::span<llvm::Value* const> parts);

// The undefined lanes of one part of an unpacked register whose own are `mask`.
llvm::Value* part_undefined(FunctionEmitter& e, llvm::Value* whole, unsigned bits, unsigned each,
                            std::size_t k, llvm::Value* mask);

// Narrows the undefined lanes of the instruction, which has read its operands (from i.operands[1] on) as
// `values` of integers and is about to write `result`, to those that the rule leaves.
void pass_bits(FunctionEmitter& e, const ptx::Instruction& i, BitRule rule,
               std::span<llvm::Value* const> values, llvm::Value* result);

} // namespace assay::cpu
