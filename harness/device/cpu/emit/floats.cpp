#include "harness/device/cpu/emit/floats.h"

namespace assay::cpu {

using llvm::Value;

namespace {

bool is_double(Value* value) { return value->getType()->getScalarType()->isDoubleTy(); }

} // namespace

// Chosen as integers: to LLVM one NaN is as good as another, so among floats it may drop the choice (it does
// for sqrt).
Value* quiet_nan(FunctionEmitter& e, Value* value) {
  auto& b = e.lanes();
  Value* bits = is_double(value) ? b.ir.CreateOr(b.as_int(value), b.splat(64, std::uint64_t{1} << 51))
                                 : b.splat(32, 0x7fffffff);
  return b.cast(b.select(b.ir.CreateFCmpUNO(value, value), bits, b.as_int(value)), value->getType());
}

Value* arithmetic_nan(FunctionEmitter& e, Value* result, std::span<Value* const> operands) {
  auto& b = e.lanes();
  if (!is_double(result)) return quiet_nan(e, result);
  Value* nan = b.splat(64, 0xfff8000000000000ULL);
  for (std::size_t k = operands.size(); k-- > 0;)
    nan = b.select(b.ir.CreateFCmpUNO(operands[k], operands[k]), b.as_int(quiet_nan(e, operands[k])), nan);
  return b.cast(b.select(b.ir.CreateFCmpUNO(result, result), nan, b.as_int(result)), result->getType());
}

Value* flush_subnormals(FunctionEmitter& e, Value* value) {
  auto& b = e.lanes();
  Value* bits = b.as_int(value);
  Value* small = b.ir.CreateICmpULT(b.ir.CreateAnd(bits, b.splat(32, 0x7fffffff)), b.splat(32, 0x00800000));
  Value* zero = b.ir.CreateAnd(bits, b.splat(32, 0x80000000));
  return b.cast(b.select(small, zero, bits), value->getType());
}

Value* saturate(FunctionEmitter& e, Value* value) {
  auto& b = e.lanes();
  const bool wide = is_double(value);
  Value* zero = wide ? b.splat_f64(0) : b.splat_f32(0);
  Value* one = wide ? b.splat_f64(1) : b.splat_f32(1);
  Value* low = b.select(b.ir.CreateFCmpOGT(value, zero), value, zero); // NaN, -0 and negatives to +0
  return b.select(b.ir.CreateFCmpOGT(low, one), one, low);
}

Value* widen_half(FunctionEmitter& e, Value* bits, bool bf16) {
  auto& b = e.lanes();
  if (!bf16) return b.ir.CreateFPExt(b.cast(bits, b.half_lanes()), b.float_lanes());
  Value* wide = b.ir.CreateShl(b.resize(bits, 32, false), b.splat(32, 16));
  return b.cast(wide, b.float_lanes());
}

Value* narrow_half(FunctionEmitter& e, Value* value, bool bf16) {
  auto& b = e.lanes();
  Value* nan = b.ir.CreateFCmpUNO(value, value);
  Value* bits = nullptr;
  if (!bf16) {
    bits = b.cast(b.ir.CreateFPTrunc(value, b.half_lanes()), b.int_lanes(16));
  } else {
    Value* wide = b.as_int(value);
    Value* odd = b.ir.CreateAnd(b.ir.CreateLShr(wide, b.splat(32, 16)), b.splat(32, 1));
    Value* rounded = b.ir.CreateAdd(wide, b.ir.CreateAdd(odd, b.splat(32, 0x7fff)));
    bits = b.resize(b.ir.CreateLShr(rounded, b.splat(32, 16)), 16, false);
  }
  return b.select(nan, b.splat(16, 0x7fff), bits);
}

Value* flush_half(FunctionEmitter& e, Value* bits, bool bf16) {
  auto& b = e.lanes();
  Value* magnitude = b.ir.CreateAnd(bits, b.splat(16, 0x7fff));
  Value* small = b.ir.CreateICmpULT(magnitude, b.splat(16, bf16 ? 0x0080 : 0x0400));
  return b.select(small, b.ir.CreateAnd(bits, b.splat(16, 0x8000)), bits);
}

int rounding_of(const ptx::Instruction& i) {
  if (i.has("rz") || i.has("rzi")) return 1;
  if (i.has("rm") || i.has("rmi")) return 2;
  if (i.has("rp") || i.has("rpi")) return 3;
  return 0;
}

Value* float_min_max(FunctionEmitter& e, Value* a, Value* b, bool maximum, bool nan) {
  auto& l = e.lanes();
  auto& ir = l.ir;
  Value* better = maximum ? ir.CreateFCmpOGT(a, b) : ir.CreateFCmpOLT(a, b);
  Value* chosen = l.select(better, a, b);
  // equal values are the same bits, or zeros whose signs decide: and for the maximum, or for the minimum
  Value* a_bits = l.as_int(a);
  Value* b_bits = l.as_int(b);
  Value* tie = maximum ? ir.CreateAnd(a_bits, b_bits) : ir.CreateOr(a_bits, b_bits);
  chosen = l.select(ir.CreateFCmpOEQ(a, b), l.cast(tie, a->getType()), chosen);
  Value* a_nan = ir.CreateFCmpUNO(a, a);
  Value* b_nan = ir.CreateFCmpUNO(b, b);
  Value* the_nan = is_double(a) ? l.as_int(quiet_nan(e, b)) : l.splat(32, 0x7fffffff);
  Value* bits = l.as_int(chosen);
  if (nan) {
    bits = l.select(ir.CreateOr(a_nan, b_nan), the_nan, bits);
  } else {
    bits = l.select(a_nan, b_bits, l.select(b_nan, a_bits, bits));
    bits = l.select(ir.CreateAnd(a_nan, b_nan), the_nan, bits);
  }
  return l.cast(bits, a->getType());
}

} // namespace assay::cpu
