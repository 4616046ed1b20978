// Lane-wise floating-point building blocks that several instruction families share. No fast-math flag is ever
// set and nothing is contracted.
#pragma once

#include "harness/device/cpu/emit/function_emitter.h"

namespace assay::cpu {

// f32 arithmetic yields one NaN, 0x7fffffff. f64 yields its operand's, made quiet, and 0xfff8000000000000
// where no operand is one; `operands` are in the order in which their NaNs take precedence.
llvm::Value* arithmetic_nan(FunctionEmitter& e, llvm::Value* result, std::span<llvm::Value* const> operands);
llvm::Value* quiet_nan(FunctionEmitter& e,
                       llvm::Value* value); // a NaN as a copy: f32 0x7fffffff, f64 made quiet
llvm::Value* flush_subnormals(FunctionEmitter& e,
                              llvm::Value* value);             // f32: subnormals to zero of their sign
llvm::Value* saturate(FunctionEmitter& e, llvm::Value* value); // to [0, 1], NaN to +0; f32 or f64

// f16 and bf16 travel as <32 x i16>.
llvm::Value* widen_half(FunctionEmitter& e, llvm::Value* bits, bool bf16);   // to f32, exact
llvm::Value* narrow_half(FunctionEmitter& e, llvm::Value* value, bool bf16); // nearest even; NaN to 0x7fff
llvm::Value* flush_half(FunctionEmitter& e, llvm::Value* bits, bool bf16);   // <32 x i16>

// The rounding that the modifiers name: 0 nearest even, 1 toward zero, 2 down, 3 up.
int rounding_of(const ptx::Instruction& i);

// The PTX minimum or maximum of f32 or f64 lanes: -0 < +0; a NaN loses unless `nan`; then, and where both are
// NaN, the result is 0x7fffffff (f64: b made quiet).
llvm::Value* float_min_max(FunctionEmitter& e, llvm::Value* a, llvm::Value* b, bool maximum, bool nan);

} // namespace assay::cpu
