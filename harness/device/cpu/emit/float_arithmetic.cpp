// add, sub, mul, fma, div, rcp, sqrt, min, max, abs, neg, copysign, testp and the approximate functions, f32
// and f64.
#include "harness/device/cpu/emit/floats.h"
#include "harness/device/cpu/emit/handlers.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <array>
#include <string>

namespace assay::cpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Type;

enum class Rounded : std::uint8_t { add, mul, fma, div, sqrt };

// AVX-512 rounds each operation as it says: 8 is nearest, 9 down, 10 up, 11 toward zero (exceptions
// suppressed).
Value* embedded_rounding(FunctionEmitter& e, Rounded op, std::span<Value* const> args, int mode) {
  static constexpr std::array codes{8, 11, 9, 10};
  auto& ir = e.ir();
  const bool wide = args[0]->getType()->getScalarType()->isDoubleTy();
  llvm::Intrinsic::ID id = 0;
  switch (op) {
  case Rounded::add:
    id = wide ? llvm::Intrinsic::x86_avx512_add_pd_512 : llvm::Intrinsic::x86_avx512_add_ps_512;
    break;
  case Rounded::mul:
    id = wide ? llvm::Intrinsic::x86_avx512_mul_pd_512 : llvm::Intrinsic::x86_avx512_mul_ps_512;
    break;
  case Rounded::div:
    id = wide ? llvm::Intrinsic::x86_avx512_div_pd_512 : llvm::Intrinsic::x86_avx512_div_ps_512;
    break;
  case Rounded::sqrt:
    id = wide ? llvm::Intrinsic::x86_avx512_sqrt_pd_512 : llvm::Intrinsic::x86_avx512_sqrt_ps_512;
    break;
  case Rounded::fma:
    id = wide ? llvm::Intrinsic::x86_avx512_vfmadd_pd_512 : llvm::Intrinsic::x86_avx512_vfmadd_ps_512;
    break;
  }
  const int width = wide ? 8 : 16;
  Value* result = llvm::PoisonValue::get(args[0]->getType());
  for (int first = 0; first < 32; first += width) {
    std::vector<int> part;
    for (int lane = 0; lane < width; ++lane) part.push_back(first + lane);
    std::vector<Value*> parts;
    for (Value* arg : args) parts.push_back(ir.CreateShuffleVector(arg, part));
    parts.push_back(ir.getInt32(static_cast<std::uint32_t>(codes[static_cast<std::size_t>(mode)])));
    Value* piece = ir.CreateIntrinsic(id, {}, parts);
    result = ir.CreateInsertVector(result->getType(), result, piece,
                                   ir.getInt64(static_cast<std::uint64_t>(first)));
  }
  return result;
}

Value* rounded(FunctionEmitter& e, Rounded op, std::span<Value* const> args, int mode) {
  auto& b = e.lanes();
  if (mode == 0) {
    switch (op) {
    case Rounded::add:
      return b.ir.CreateFAdd(args[0], args[1]);
    case Rounded::mul:
      return b.ir.CreateFMul(args[0], args[1]);
    case Rounded::div:
      return b.ir.CreateFDiv(args[0], args[1]);
    case Rounded::sqrt:
      return b.unary(llvm::Intrinsic::sqrt, args[0]);
    case Rounded::fma:
      return b.ternary(llvm::Intrinsic::fma, args[0], args[1], args[2]);
    }
  }
  if (e.scope().wide_vectors) return embedded_rounding(e, op, args, mode);
  static constexpr std::array names{"add", "mul", "fma", "div", "sqrt"};
  const bool wide = args[0]->getType()->getScalarType()->isDoubleTy();
  const std::string name =
      std::string("assay_") + names[static_cast<std::size_t>(op)] + (wide ? "_f64" : "_f32");
  return b.call_lanes(name, args[0]->getType(), args, mode);
}

Type type_of(const Instruction& i) { return i.types.back(); }

Value* input(FunctionEmitter& e, const Instruction& i, std::size_t k) {
  Value* value = e.source(i, k, type_of(i));
  return i.has("ftz") && type_of(i) == Type::f32 ? flush_subnormals(e, value) : value;
}

// `operands` in the order in which their NaNs take precedence.
void output(FunctionEmitter& e, const Instruction& i, Value* value, std::span<Value* const> operands) {
  if (i.has("ftz") && type_of(i) == Type::f32) value = flush_subnormals(e, value);
  value = i.has("sat") ? saturate(e, value) : arithmetic_nan(e, value, operands);
  e.write(i, 0, type_of(i), value);
}

// Whether .ftz flushes the result: where it is too small once rounded as if exponents had no lower limit.
// What rounds up to the smallest normal number only for want of exponents is flushed too. A sum's small
// results are exact.
Value* flushed(FunctionEmitter& e, Rounded op, std::span<Value* const> args, int mode, Value* result) {
  auto& b = e.lanes();
  if (op == Rounded::add || op == Rounded::sqrt) return result;
  std::vector<Value*> scaled(args.begin(), args.end()); // 2^24 times the result
  scaled[0] = b.ir.CreateFMul(scaled[0], b.splat_f32(0x1p24F));
  if (op == Rounded::fma) scaled[2] = b.ir.CreateFMul(scaled[2], b.splat_f32(0x1p24F));
  Value* magnitude = b.unary(llvm::Intrinsic::fabs, rounded(e, op, scaled, mode));
  Value* zero = b.ir.CreateAnd(b.as_int(result), b.splat(32, 0x80000000));
  Value* small = b.ir.CreateFCmpOLT(magnitude, b.splat_f32(0x1p-102F));
  return b.cast(b.select(small, zero, b.as_int(result)), result->getType());
}

// The second operand's NaN comes first, then the third's, then the first's; a division keeps their order.
void arithmetic(FunctionEmitter& e, const Instruction& i, Rounded op, bool negate_second = false) {
  std::vector<Value*> args;
  for (std::size_t k = 1; k < i.operands.size(); ++k) args.push_back(input(e, i, k));
  std::vector<Value*> operands = args;
  if (op != Rounded::div) std::ranges::rotate(operands, operands.begin() + (operands.size() > 1 ? 1 : 0));
  if (negate_second) args[1] = e.ir().CreateFNeg(args[1]);
  const int mode = rounding_of(i);
  Value* result = rounded(e, op, args, mode);
  if (i.has("ftz") && !i.has("approx") && !i.has("full")) result = flushed(e, op, args, mode, result);
  output(e, i, result, operands);
}

void emit_add(FunctionEmitter& e, const Instruction& i) { arithmetic(e, i, Rounded::add); }
void emit_sub(FunctionEmitter& e, const Instruction& i) { arithmetic(e, i, Rounded::add, true); }
void emit_mul(FunctionEmitter& e, const Instruction& i) { arithmetic(e, i, Rounded::mul); }
void emit_fma(FunctionEmitter& e, const Instruction& i) { arithmetic(e, i, Rounded::fma); }

// div.approx and div.full are exact, but that div.approx by more than 2^126 gives a zero of the quotient's
// sign.
void emit_div(FunctionEmitter& e, const Instruction& i) {
  if (!i.has("approx")) return arithmetic(e, i, Rounded::div);
  auto& b = e.lanes();
  Value* x = input(e, i, 1);
  Value* y = input(e, i, 2);
  Value* magnitude = b.ir.CreateAnd(b.as_int(y), b.splat(32, 0x7fffffff));
  Value* large = b.ir.CreateAnd(b.ir.CreateICmpUGT(magnitude, b.splat(32, 0x7e800000)),
                                b.ir.CreateICmpULT(magnitude, b.splat(32, 0x7f800000)));
  Value* inverse = b.binary(llvm::Intrinsic::copysign, b.splat_f32(0), y);
  output(e, i, b.select(large, b.ir.CreateFMul(x, inverse), b.ir.CreateFDiv(x, y)), {});
}
// approx and full: exact

void emit_sqrt(FunctionEmitter& e, const Instruction& i) { arithmetic(e, i, Rounded::sqrt); }

void approximate(FunctionEmitter& e, const Instruction& i, std::string_view name) {
  Value* x = input(e, i, 1);
  const bool wide = type_of(i) == Type::f64, upper = wide && i.has("ftz");
  const std::string full = fmt::format("assay_{}{}", name, upper ? "_ftz_f64" : wide ? "_f64" : "_f32");
  Value* result = e.lanes().call_lanes(full, x->getType(), std::array{x});
  if (upper) return e.write(i, 0, type_of(i), result); // with a NaN of its own
  output(e, i, result, std::array{x});
}

void emit_rcp(FunctionEmitter& e, const Instruction& i) {
  if (i.has("approx")) return approximate(e, i, "rcp");
  Value* one = type_of(i) == Type::f64 ? e.lanes().splat_f64(1) : e.lanes().splat_f32(1);
  Value* x = input(e, i, 1);
  output(e, i, rounded(e, Rounded::div, std::array{one, x}, rounding_of(i)), std::array{x});
}
void emit_rsqrt(FunctionEmitter& e, const Instruction& i) { approximate(e, i, "rsqrt"); }
void emit_ex2(FunctionEmitter& e, const Instruction& i) { approximate(e, i, "ex2"); }
void emit_lg2(FunctionEmitter& e, const Instruction& i) { approximate(e, i, "lg2"); }
void emit_sin(FunctionEmitter& e, const Instruction& i) { approximate(e, i, "sin"); }
void emit_cos(FunctionEmitter& e, const Instruction& i) { approximate(e, i, "cos"); }
void emit_tanh(FunctionEmitter& e, const Instruction& i) { approximate(e, i, "tanh"); }

void emit_min_max(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const auto operand = [&](std::size_t k) {
    Value* value = input(e, i, k);
    return i.has("abs") ? b.unary(llvm::Intrinsic::fabs, value) : value;
  };
  Value* value = operand(1);
  for (std::size_t k = 2; k < i.operands.size(); ++k)
    value = float_min_max(e, value, operand(k), i.opcode == "max", i.has("NaN"));
  if (i.has("xorsign")) { // of a number; the operands' signs count even of a NaN
    Value* signs = b.ir.CreateXor(b.as_int(input(e, i, 1)), b.as_int(input(e, i, 2)));
    Value* bits = b.as_int(value);
    Value* of_number = b.ir.CreateOr(bits, b.ir.CreateAnd(signs, b.splat(32, 0x80000000)));
    value = b.cast(b.select(b.ir.CreateFCmpUNO(value, value), bits, of_number), value->getType());
  }
  e.write(i, 0, type_of(i), value);
}

// abs and neg change the sign bit of a number. A NaN keeps its sign in f64 and becomes 0x7fffffff in f32.
void emit_sign(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  Value* x = input(e, i, 1);
  Value* value = i.opcode == "abs" ? b.unary(llvm::Intrinsic::fabs, x) : b.ir.CreateFNeg(x);
  Value* bits = b.select(b.ir.CreateFCmpUNO(x, x), b.as_int(quiet_nan(e, x)), b.as_int(value));
  e.write(i, 0, type_of(i), b.cast(bits, x->getType()));
}

// copysign d, a, b: b with the sign of a.
void emit_copysign(FunctionEmitter& e, const Instruction& i) {
  e.write(i, 0, type_of(i), e.lanes().binary(llvm::Intrinsic::copysign, input(e, i, 2), input(e, i, 1)));
}

void emit_testp(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const Type type = type_of(i);
  Value* x = e.source(i, 1, type);
  unsigned test = 0;
  if (i.has("finite")) test = llvm::fcFinite;
  if (i.has("infinite")) test = llvm::fcInf;
  if (i.has("number")) test = llvm::fcAllFlags & ~static_cast<unsigned>(llvm::fcNan);
  if (i.has("notanumber")) test = llvm::fcNan;
  if (i.has("normal")) test = llvm::fcNormal | llvm::fcZero; // as the hardware has it
  if (i.has("subnormal")) test = llvm::fcSubnormal;
  Value* holds = b.ir.createIsFPClass(x, test);
  e.write(i, 0, Type::pred, b.to_mask(holds));
}

} // namespace

Handler float_handler(std::string_view opcode, const Instruction& i) {
  if (i.types.empty() || (i.types.back() != Type::f32 && i.types.back() != Type::f64)) return nullptr;
  if (opcode == "add") return emit_add;
  if (opcode == "sub") return emit_sub;
  if (opcode == "mul") return emit_mul;
  if (opcode == "fma" || opcode == "mad") return emit_fma;
  if (opcode == "div") return emit_div;
  if (opcode == "sqrt") return emit_sqrt;
  if (opcode == "rcp") return emit_rcp;
  if (opcode == "rsqrt") return emit_rsqrt;
  if (opcode == "ex2") return emit_ex2;
  if (opcode == "lg2") return emit_lg2;
  if (opcode == "sin") return emit_sin;
  if (opcode == "cos") return emit_cos;
  if (opcode == "tanh") return emit_tanh;
  if (opcode == "min" || opcode == "max") return emit_min_max;
  if (opcode == "abs" || opcode == "neg") return emit_sign;
  if (opcode == "copysign") return emit_copysign;
  if (opcode == "testp") return emit_testp;
  return nullptr;
}

} // namespace assay::cpu
