// add, sub, mul, mad, div, rem, abs, neg, min, max, sad, carry chains, dot products.
#include "harness/device/cpu/emit/function_emitter.h"
#include "harness/device/cpu/emit/handlers.h"

#include <array>
#include <string>

namespace assay::cpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Type;

Type type_of(const Instruction& i) { return i.types.back(); }
unsigned bits_of(const Instruction& i) { return ptx::bits_of(type_of(i)); }
bool sign_of(const Instruction& i) { return ptx::is_signed(type_of(i)); }
Value* in(FunctionEmitter& e, const Instruction& i, std::size_t k) { return e.source(i, k, type_of(i)); }

Type twice(Type type) {
  switch (type) {
  case Type::s16:
    return Type::s32;
  case Type::s32:
    return Type::s64;
  case Type::u16:
    return Type::u32;
  default:
    return Type::u64;
  }
}

void emit_add_sub(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  Value* x = in(e, i, 1);
  Value* y = in(e, i, 2);
  const bool add = i.opcode == "add";
  if (i.has("sat"))
    e.write(i, 0, type_of(i), b.binary(add ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::ssub_sat, x, y));
  else
    e.write(i, 0, type_of(i), add ? b.ir.CreateAdd(x, y) : b.ir.CreateSub(x, y));
}

// The product's low half, high half, or (wide) all of it; 24-bit forms see the operands' low 24 bits.
Value* product(FunctionEmitter& e, const Instruction& i, Value* x, Value* y) {
  auto& b = e.lanes();
  const unsigned bits = bits_of(i);
  if (i.opcode == "mul24" || i.opcode == "mad24") {
    const auto cut = [&](Value* v) {
      Value* left = b.ir.CreateShl(v, b.splat(32, 8));
      return sign_of(i) ? b.ir.CreateAShr(left, b.splat(32, 8)) : b.ir.CreateLShr(left, b.splat(32, 8));
    };
    Value* all = b.ir.CreateMul(b.resize(cut(x), 64, sign_of(i)), b.resize(cut(y), 64, sign_of(i)));
    if (i.has("hi")) all = b.ir.CreateLShr(all, b.splat(64, 16));
    return b.resize(all, 32, false);
  }
  if (i.has("lo")) return b.ir.CreateMul(x, y);
  Value* all = b.ir.CreateMul(b.resize(x, 2 * bits, sign_of(i)), b.resize(y, 2 * bits, sign_of(i)));
  if (i.has("wide")) return all;
  return b.resize(b.ir.CreateLShr(all, b.splat(2 * bits, bits)), bits, false);
}

void emit_mul(FunctionEmitter& e, const Instruction& i) {
  e.write(i, 0, i.has("wide") ? twice(type_of(i)) : type_of(i), product(e, i, in(e, i, 1), in(e, i, 2)));
}

void emit_mad(FunctionEmitter& e, const Instruction& i) {
  const Type type = i.has("wide") ? twice(type_of(i)) : type_of(i);
  Value* whole = product(e, i, in(e, i, 1), in(e, i, 2));
  Value* c = e.source(i, 3, type);
  if (i.has("sat"))
    e.write(i, 0, type, e.lanes().binary(llvm::Intrinsic::sadd_sat, whole, c));
  else
    e.write(i, 0, type, e.ir().CreateAdd(whole, c));
}

// Never traps: a division by zero gives all ones, as the hardware does; the smallest number by -1 wraps.
void emit_div_rem(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  const unsigned bits = bits_of(i);
  const bool sign = sign_of(i), rem = i.opcode == "rem";
  Value* x = in(e, i, 1);
  Value* y = in(e, i, 2);
  Value* by_zero = ir.CreateICmpEQ(y, b.splat(bits, 0));
  Value* quotient = nullptr;
  if (bits == 64) {
    const std::string name = std::string("assay_") + (rem ? "rem" : "div") + (sign ? "_s64" : "_u64");
    Value* safe = b.select(by_zero, b.splat(64, 1), y);
    return e.write(
        i, 0, type_of(i),
        b.select(by_zero, b.splat(64, ~0ULL), b.call_lanes(name, b.int_lanes(64), std::array{x, safe})));
  }
  // exact in double: the quotient of two 32-bit numbers is at least 2^-32 away from the next integer
  const auto to_double = [&](Value* v) {
    return sign ? ir.CreateSIToFP(v, b.double_lanes()) : ir.CreateUIToFP(v, b.double_lanes());
  };
  Value* safe = b.select(by_zero, b.splat(bits, 1), y);
  Value* ratio = b.unary(llvm::Intrinsic::trunc, ir.CreateFDiv(to_double(x), to_double(safe)));
  Value* wide = ir.CreateFPToSI(ratio, b.int_lanes(64));
  quotient = b.resize(wide, bits, false);
  Value* result = rem ? ir.CreateSub(x, ir.CreateMul(quotient, safe)) : quotient;
  e.write(i, 0, type_of(i), b.select(by_zero, b.splat(bits, ~0ULL), result));
}

void emit_abs(FunctionEmitter& e, const Instruction& i) {
  e.write(i, 0, type_of(i), e.lanes().binary(llvm::Intrinsic::abs, in(e, i, 1), e.ir().getInt1(false)));
}
void emit_neg(FunctionEmitter& e, const Instruction& i) {
  e.write(i, 0, type_of(i), e.ir().CreateNeg(in(e, i, 1)));
}

void emit_min_max(FunctionEmitter& e, const Instruction& i) {
  const bool maximum = i.opcode == "max";
  const llvm::Intrinsic::ID id = sign_of(i) ? (maximum ? llvm::Intrinsic::smax : llvm::Intrinsic::smin)
                                            : (maximum ? llvm::Intrinsic::umax : llvm::Intrinsic::umin);
  auto& b = e.lanes();
  Value* x = in(e, i, 1);
  Value* y = in(e, i, 2);
  if (type_of(i) != Type::s32 || !i.has("relu")) return e.write(i, 0, type_of(i), b.binary(id, x, y));
  e.write(i, 0, type_of(i), b.binary(llvm::Intrinsic::smax, b.binary(id, x, y), b.splat(32, 0)));
}

void emit_sad(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  Value* x = in(e, i, 1);
  Value* y = in(e, i, 2);
  Value* less = sign_of(i) ? b.ir.CreateICmpSLT(x, y) : b.ir.CreateICmpULT(x, y);
  Value* distance = b.select(less, b.ir.CreateSub(y, x), b.ir.CreateSub(x, y));
  e.write(i, 0, type_of(i), b.ir.CreateAdd(in(e, i, 3), distance));
}

// addc, subc, madc and the .cc forms keep the carry in a register of the function's own (carry_register).
Value* with_carry(FunctionEmitter& e, const Instruction& i, Value* x, Value* y, bool subtract) {
  auto& b = e.lanes();
  const unsigned bits = bits_of(i);
  const bool takes = i.opcode == "addc" || i.opcode == "subc" || i.opcode == "madc";
  const unsigned wide = bits + 1;
  Value* carry = takes ? b.ir.CreateZExt(b.to_lanes(e.read_carry()), b.int_lanes(wide)) : b.splat(wide, 0);
  Value* a = b.resize(x, wide, false);
  Value* c = b.resize(y, wide, false);
  Value* sum =
      subtract ? b.ir.CreateSub(b.ir.CreateSub(a, c), carry) : b.ir.CreateAdd(b.ir.CreateAdd(a, c), carry);
  if (i.has("cc"))
    e.write_carry(b.to_mask(b.ir.CreateTrunc(b.ir.CreateLShr(sum, b.splat(wide, bits)), b.int_lanes(1))));
  return b.resize(sum, bits, false);
}

void emit_carry(FunctionEmitter& e, const Instruction& i) {
  e.write(i, 0, type_of(i), with_carry(e, i, in(e, i, 1), in(e, i, 2), i.opcode.starts_with("sub")));
}
void emit_mad_carry(FunctionEmitter& e, const Instruction& i) {
  Value* half = product(e, i, in(e, i, 1), in(e, i, 2));
  e.write(i, 0, type_of(i), with_carry(e, i, half, in(e, i, 3), false));
}

// dp4a, dp2a: d = c + sum of products of 8-bit parts of a with 8-bit parts (dp2a: a's parts are 16-bit) of b.
void emit_dot(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const bool four = i.opcode == "dp4a";
  const bool a_sign = ptx::is_signed(i.types[0]), b_sign = ptx::is_signed(i.types[1]);
  Value* x = e.source(i, 1, Type::b32);
  Value* y = e.source(i, 2, Type::b32);
  Value* sum = e.source(i, 3, Type::b32);
  const auto part = [&](Value* v, unsigned width, unsigned from, bool sign) {
    Value* left = b.ir.CreateShl(v, b.splat(32, 32 - width - from));
    return sign ? b.ir.CreateAShr(left, b.splat(32, 32 - width))
                : b.ir.CreateLShr(left, b.splat(32, 32 - width));
  };
  for (unsigned k = 0; k < (four ? 4u : 2u); ++k) {
    const unsigned width = four ? 8 : 16;
    const unsigned at = 8 * k + (i.has("hi") ? 16 : 0);
    sum = b.ir.CreateAdd(sum, b.ir.CreateMul(part(x, width, width * k, a_sign), part(y, 8, at, b_sign)));
  }
  e.write(i, 0, a_sign || b_sign ? Type::s32 : Type::u32, sum);
}

} // namespace

Handler integer_handler(std::string_view opcode, const Instruction& i) {
  if (i.types.empty() || !ptx::is_integer(i.types.back())) return nullptr;
  const bool cc = i.has("cc");
  if (opcode == "add" || opcode == "sub") return cc ? emit_carry : emit_add_sub;
  if (opcode == "addc" || opcode == "subc") return emit_carry;
  if (opcode == "mul" || opcode == "mul24") return emit_mul;
  if (opcode == "mad" || opcode == "mad24") return cc ? emit_mad_carry : emit_mad;
  if (opcode == "madc") return emit_mad_carry;
  if (opcode == "div" || opcode == "rem") return emit_div_rem;
  if (opcode == "abs") return emit_abs;
  if (opcode == "neg") return emit_neg;
  if (opcode == "min" || opcode == "max") return emit_min_max;
  if (opcode == "sad") return emit_sad;
  if (opcode == "dp4a" || opcode == "dp2a") return emit_dot;
  return nullptr;
}

} // namespace assay::cpu
