// cvt and cvt.pack.
#include "harness/device/cpu/emit/floats.h"
#include "harness/device/cpu/emit/handlers.h"
#include "harness/device/cpu/emit/partly_undefined.h"

#include <array>
#include <string>

namespace assay::cpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Type;

bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }

// To an integral value, as .rni, .rzi, .rmi, .rpi say.
Value* to_integral(FunctionEmitter& e, const Instruction& i, Value* value) {
  static constexpr std::array ids{llvm::Intrinsic::roundeven, llvm::Intrinsic::trunc, llvm::Intrinsic::floor,
                                  llvm::Intrinsic::ceil};
  return e.lanes().unary(ids[static_cast<std::size_t>(rounding_of(i))], value);
}

bool rounds_to_integral(const Instruction& i) {
  return i.has("rni") || i.has("rzi") || i.has("rmi") || i.has("rpi");
}

// Out of range values clamp. NaN: 0 between f32 or narrower and 32 bits or narrower, else only the top bit.
Value* float_to_integer(FunctionEmitter& e, const Instruction& i, Value* value, Type from, Type to) {
  auto& b = e.lanes();
  const unsigned bits = bits_of(to);
  value = to_integral(e, i, value);
  const auto id = is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  Value* result = b.ir.CreateIntrinsic(id, {b.int_lanes(bits), value->getType()}, {value});
  if (from != Type::f64 && bits <= 32) return result;
  return b.select(b.ir.CreateFCmpUNO(value, value), b.splat(bits, std::uint64_t{1} << (bits - 1)), result);
}

Value* integer_to_float(FunctionEmitter& e, const Instruction& i, Value* value, Type from, Type to) {
  auto& b = e.lanes();
  const int mode = rounding_of(i);
  const bool sign = is_signed(from);
  if (to == Type::f64 && bits_of(from) <= 32)
    return sign ? b.ir.CreateSIToFP(value, b.double_lanes()) : b.ir.CreateUIToFP(value, b.double_lanes());
  if (to == Type::f32 && mode == 0)
    return sign ? b.ir.CreateSIToFP(value, b.float_lanes()) : b.ir.CreateUIToFP(value, b.float_lanes());
  if (to == Type::f64 && mode == 0)
    return sign ? b.ir.CreateSIToFP(value, b.double_lanes()) : b.ir.CreateUIToFP(value, b.double_lanes());
  const std::string name =
      std::string("assay_") + (sign ? "s64" : "u64") + (to == Type::f64 ? "_to_f64" : "_to_f32");
  return b.call_lanes(name, b.lanes_of(to), std::array{b.resize(value, 64, sign)}, mode);
}

// f32 to f16 or bf16 bits.
Value* float_to_half(FunctionEmitter& e, const Instruction& i, Value* value, bool bf16) {
  auto& b = e.lanes();
  const int mode = rounding_of(i);
  Value* bits = mode == 0 ? narrow_half(e, value, bf16)
                          : b.call_lanes(bf16 ? "assay_f32_to_bf16" : "assay_f32_to_f16", b.int_lanes(16),
                                         std::array{value}, mode);
  Value* magnitude = b.ir.CreateAnd(bits, b.splat(16, 0x7fff));
  const std::uint64_t infinity = bf16 ? 0x7f80 : 0x7c00;
  if (i.has("relu")) {
    Value* negative = b.ir.CreateAnd(b.ir.CreateICmpSLT(bits, b.splat(16, 0)),
                                     b.ir.CreateICmpULE(magnitude, b.splat(16, infinity)));
    bits = b.select(negative, b.splat(16, 0), bits);
  }
  if (i.has("satfinite")) {
    Value* infinite = b.ir.CreateICmpEQ(b.ir.CreateAnd(bits, b.splat(16, 0x7fff)), b.splat(16, infinity));
    bits = b.select(infinite, b.ir.CreateSub(bits, b.splat(16, 1)), bits);
  }
  return bits;
}

Value* to_f32(FunctionEmitter& e, Value* value, Type from) {
  return is_half(from) ? widen_half(e, value, from == Type::bf16) : value;
}

// A NaN that was an f64's, cut to f32 and quiet, cut further: its sign and the topmost bits of its payload.
Value* half_nan(FunctionEmitter& e, Value* value, bool bf16) {
  auto& b = e.lanes();
  Value* bits = b.as_int(value);
  Value* rest = b.ir.CreateAnd(b.ir.CreateLShr(bits, b.splat(32, bf16 ? 16 : 13)), b.splat(32, 0x7fff));
  Value* sign = b.ir.CreateAnd(b.ir.CreateLShr(bits, b.splat(32, 16)), b.splat(32, 0x8000));
  return b.resize(b.ir.CreateOr(sign, rest), 16, false);
}

// What becomes of a NaN: f32 0x7fffffff and halves 0x7fff; but sign and payload stay from f64 to anything,
// from narrower types to f64 (made quiet) and from bf16 to f32 (a shift). Between equal types, f32 or f64,
// without rounding, saturation or flush: a move. .ftz does not flush what becomes f16.
void float_to_float(FunctionEmitter& e, const Instruction& i, Type from, Type to) {
  auto& b = e.lanes();
  const bool ftz = i.has("ftz"), moves = !rounds_to_integral(i) && !ftz && !i.has("sat") && !is_half(to) &&
                                         (from == to || (from == Type::bf16 && to == Type::f32));
  if (moves && from == to) return e.write(i, 0, to, e.source(i, 1, from));
  if (moves) {
    Value* wide = b.resize(e.source(i, 1, from), 32, false);
    return e.write(i, 0, Type::b32, b.ir.CreateShl(wide, b.splat(32, 16)));
  }
  Value* value = to_f32(e, e.source(i, 1, from), from);
  if (ftz && from != Type::f64) value = quiet_nan(e, value);
  if (ftz && from == Type::f32 && to != Type::f16) value = flush_subnormals(e, value);
  if (rounds_to_integral(i)) value = to_integral(e, i, value);
  if (from == Type::f64 &&
      to != Type::f64) { // to a half: to odd first, which keeps what the second rounding needs
    value = is_half(to)
                ? b.call_lanes("assay_f64_to_f32_odd", b.float_lanes(), std::array{value})
                : b.call_lanes("assay_f64_to_f32", b.float_lanes(), std::array{value}, rounding_of(i));
  }
  if (from != Type::f64 && to == Type::f64) value = b.ir.CreateFPExt(value, b.double_lanes());
  if (is_half(to)) {
    if (i.has("sat")) value = saturate(e, value);
    Value* bits = float_to_half(e, i, value, to == Type::bf16);
    if (from == Type::f64)
      bits = b.select(b.ir.CreateFCmpUNO(value, value), half_nan(e, value, to == Type::bf16), bits);
    return e.write(i, 0, to, bits);
  }
  if (ftz && to == Type::f32) value = flush_subnormals(e, value);
  if (i.has("sat"))
    value = saturate(e, value);
  else if (from == to || (from != Type::f64 && to == Type::f32))
    value = quiet_nan(e, value);
  e.write(i, 0, to, value);
}

// What is cut off is not undefined any more, nor are the zeros of an extension.
void narrow_taint(FunctionEmitter& e, const Instruction& i, Type from, Type to, Value* value, Value* result) {
  const unsigned old_bits = bits_of(from), bits = bits_of(to);
  Value* mask = e.taken_taint();
  if (!mask || e.register_bits(i.operands[1]) != old_bits) return;
  if (bits < old_bits) e.set_taint(part_undefined(e, value, old_bits, bits, 0, mask));
  if (bits <= old_bits || is_signed(from)) return;
  std::vector<Value*> parts(bits / old_bits);
  parts[0] = mask;
  e.set_taint(packed_undefined(e, result, bits, parts));
}

void integer_to_integer(FunctionEmitter& e, const Instruction& i, Type from, Type to) {
  auto& b = e.lanes();
  Value* value = e.source(i, 1, from);
  const unsigned bits = bits_of(to);
  if (!i.has("sat")) {
    Value* result = b.resize(value, bits, is_signed(from));
    narrow_taint(e, i, from, to, value, result);
    return e.write(i, 0, to, result);
  }
  // clamp in 65 bits, where every value of either type is itself
  value = b.resize(value, 65, is_signed(from));
  const llvm::APInt low = is_signed(to) ? llvm::APInt::getSignedMinValue(bits).sext(65) : llvm::APInt(65, 0);
  const llvm::APInt high =
      is_signed(to) ? llvm::APInt::getSignedMaxValue(bits).sext(65) : llvm::APInt::getMaxValue(bits).zext(65);
  const auto splat = [&](const llvm::APInt& n) { return b.ir.CreateVectorSplat(32, b.ir.getInt(n)); };
  value = b.binary(llvm::Intrinsic::smin, b.binary(llvm::Intrinsic::smax, value, splat(low)), splat(high));
  e.write(i, 0, to, b.resize(value, bits, false));
}

// Each half of the result is undefined where its own operand is.
void note_halves(FunctionEmitter& e, const Instruction& i, Value* result, unsigned bits) {
  Value* const undefined[] = {e.undefined_lanes(i.operands[2]), e.undefined_lanes(i.operands[1])};
  e.set_taint(packed_undefined(e, result, bits, undefined));
}

// cvt.rn.f16x2.f32 d, a, b: a is the high half.
void pack_two(FunctionEmitter& e, const Instruction& i, Type to) {
  auto& b = e.lanes();
  if (to == Type::e4m3x2 || to == Type::e5m2x2) {
    const bool from_pair = i.types[1] == Type::f16x2;
    std::vector<Value*> args;
    if (from_pair) {
      Value* pair = e.source(i, 1, Type::b32);
      for (const unsigned shift : {16u, 0u})
        args.push_back(widen_half(e, b.resize(b.ir.CreateLShr(pair, b.splat(32, shift)), 16, false), false));
    } else {
      args = {e.source(i, 1, Type::f32), e.source(i, 2, Type::f32)};
    }
    Value* mode = b.splat(32, i.has("relu") ? 1 : 0);
    args.push_back(b.cast(mode, b.float_lanes()));
    const char* name = to == Type::e4m3x2 ? "assay_f32_to_e4m3x2" : "assay_f32_to_e5m2x2";
    Value* result = b.call_lanes(name, b.int_lanes(16), args);
    if (!from_pair) note_halves(e, i, result, 16);
    return e.write(i, 0, Type::b16, result);
  }
  const bool bf16 = to == Type::bf16x2;
  const auto half = [&](std::size_t k) {
    Value* value = e.source(i, k, Type::f32);
    if (i.has("ftz")) value = flush_subnormals(e, value);
    return b.resize(float_to_half(e, i, value, bf16), 32, false);
  };
  Value* high = b.ir.CreateShl(half(1), b.splat(32, 16));
  Value* result = b.ir.CreateOr(high, half(2));
  note_halves(e, i, result, 32);
  e.write(i, 0, Type::b32, result);
}

void emit_cvt(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const Type to = i.types[0], from = i.types[1];
  if (from == Type::e4m3x2 || from == Type::e5m2x2) {
    const char* name = from == Type::e4m3x2 ? "assay_e4m3x2_to_f16x2" : "assay_e5m2x2_to_f16x2";
    Value* pair = b.call_lanes(name, b.int_lanes(32), std::array{e.source(i, 1, Type::b16)});
    if (i.has("relu")) { // NaN is 0x7fff and stays
      for (const std::uint64_t half : {0xffffULL, 0xffff0000ULL}) {
        Value* sign = b.ir.CreateAnd(pair, b.splat(32, half & 0x80008000));
        pair = b.select(b.ir.CreateICmpNE(sign, b.splat(32, 0)),
                        b.ir.CreateAnd(pair, b.splat(32, ~half & 0xffffffff)), pair);
      }
    }
    return e.write(i, 0, Type::b32, pair);
  }
  if (to == Type::f16x2 || to == Type::bf16x2 || to == Type::e4m3x2 || to == Type::e5m2x2)
    return pack_two(e, i, to);
  if (to == Type::tf32) {
    Value* value = e.source(i, 1, Type::f32);
    Value* bits = b.as_int(b.call_lanes("assay_f32_to_tf32", b.float_lanes(), std::array{value},
                                        i.has("rna") ? 4 : rounding_of(i)));
    if (i.has("relu")) bits = b.select(b.ir.CreateICmpSLT(bits, b.splat(32, 0)), b.splat(32, 0), bits);
    if (i.has("satfinite")) { // the number below infinity; of NaN the next lower pattern too
      Value* magnitude = b.ir.CreateAnd(bits, b.splat(32, 0x7fffffff));
      Value* lower = b.ir.CreateSub(bits, b.splat(32, 0x2000));
      bits = b.select(b.ir.CreateICmpUGE(magnitude, b.splat(32, 0x7f800000)), lower, bits);
    }
    return e.write(i, 0, Type::b32, bits);
  }
  if (is_float(from) && is_float(to)) return float_to_float(e, i, from, to);
  if (is_float(from)) {
    Value* value = to_f32(e, e.source(i, 1, from), from);
    if (i.has("ftz") && from == Type::f32) value = flush_subnormals(e, value);
    return e.write(i, 0, to, float_to_integer(e, i, value, from, to));
  }
  if (is_float(to)) {
    Value* value = e.source(i, 1, from);
    if (!is_half(to)) {
      value = integer_to_float(e, i, value, from, to);
      return e.write(i, 0, to, i.has("sat") ? saturate(e, value) : value);
    }
    // to a half: through f32 rounded to odd, so that the second rounding is the only one
    value = b.call_lanes(is_signed(from) ? "assay_s64_to_f32_odd" : "assay_u64_to_f32_odd", b.float_lanes(),
                         std::array{b.resize(value, 64, is_signed(from))});
    if (i.has("sat")) value = saturate(e, value);
    return e.write(i, 0, to, float_to_half(e, i, value, to == Type::bf16));
  }
  integer_to_integer(e, i, from, to);
}

} // namespace

Handler convert_handler(std::string_view opcode) { return opcode == "cvt" ? emit_cvt : nullptr; }

} // namespace assay::cpu
