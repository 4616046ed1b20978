// and, or, xor, not, cnot, lop3, shifts, funnel shifts, bit fields and counts, prmt.
#include "harness/device/cpu/emit/function_emitter.h"
#include "harness/device/cpu/emit/handlers.h"
#include "harness/device/cpu/emit/partly_undefined.h"

#include <array>

namespace assay::cpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

Type type_of(const Instruction& i) { return i.types.back(); }
unsigned bits_of(const Instruction& i) { return ptx::bits_of(type_of(i)); }
std::uint8_t bytes_of(const Instruction& i) { return static_cast<std::uint8_t>(bits_of(i) / 8); }

void emit_bitwise(FunctionEmitter& e, const Instruction& i) {
  Value* x = e.source(i, 1, type_of(i));
  Value* y = e.source(i, 2, type_of(i));
  auto& ir = e.ir();
  Value* result = i.opcode == "and"  ? ir.CreateAnd(x, y)
                  : i.opcode == "or" ? ir.CreateOr(x, y)
                                     : ir.CreateXor(x, y);
  const std::uint8_t table = i.opcode == "and" ? 0xc0 : i.opcode == "or" ? 0xfc : 0x3c;
  pass_bits(e, i, {BitOp::table, bytes_of(i), 2, table}, std::array{x, y}, result);
  e.write(i, 0, type_of(i), result);
}

void emit_not(FunctionEmitter& e, const Instruction& i) {
  Value* x = e.source(i, 1, type_of(i));
  Value* result = e.ir().CreateNot(x);
  pass_bits(e, i, {BitOp::table, bytes_of(i), 1, 0x0f}, std::array{x}, result);
  e.write(i, 0, type_of(i), result);
}

void emit_cnot(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  Value* zero = b.ir.CreateICmpEQ(e.source(i, 1, type_of(i)), b.splat(bits_of(i), 0));
  e.write(i, 0, type_of(i), b.ir.CreateZExt(zero, b.int_lanes(bits_of(i))));
}

// Bit k of the table is the result where the three inputs' bits read k (a is the high one).
void emit_lop3(FunctionEmitter& e, const Instruction& i) {
  auto& ir = e.ir();
  if (i.operands.size() != 5 || i.operands[4].kind != Operand::Kind::integer)
    return e.fail(i, ErrorKind::user, "lop3 needs an immediate table");
  Value* inputs[3];
  for (std::size_t k = 0; k < 3; ++k) inputs[k] = e.source(i, k + 1, Type::b32);
  Value* result = e.lanes().splat(32, 0);
  for (unsigned row = 0; row < 8; ++row) {
    if ((i.operands[4].bits >> row & 1) == 0) continue;
    Value* term = e.lanes().splat(32, ~0u);
    for (unsigned k = 0; k < 3; ++k)
      term = ir.CreateAnd(term, (row >> (2 - k) & 1) != 0 ? inputs[k] : ir.CreateNot(inputs[k]));
    result = ir.CreateOr(result, term);
  }
  pass_bits(e, i, {BitOp::table, 4, 3, static_cast<std::uint8_t>(i.operands[4].bits)}, inputs, result);
  e.write(i, 0, Type::b32, result);
}

// Amounts beyond the width shift everything out.
void emit_shift(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const unsigned bits = bits_of(i);
  Value* x = e.source(i, 1, type_of(i));
  Value* amount = e.source(i, 2, Type::u32);
  const bool arithmetic = i.opcode == "shr" && ptx::is_signed(type_of(i));
  Value* largest = b.splat(32, bits - 1);
  Value* inside = b.resize(b.binary(llvm::Intrinsic::umin, amount, largest), bits, false);
  Value* result = i.opcode == "shl" ? b.ir.CreateShl(x, inside)
                  : arithmetic      ? b.ir.CreateAShr(x, inside)
                                    : b.ir.CreateLShr(x, inside);
  if (!arithmetic) result = b.select(b.ir.CreateICmpUGT(amount, largest), b.splat(bits, 0), result);
  const BitOp op = i.opcode == "shl" ? BitOp::shift_left
                   : arithmetic      ? BitOp::shift_right_sign
                                     : BitOp::shift_right;
  pass_bits(e, i, {op, bytes_of(i), 2, 0}, std::array{x, amount}, result);
  e.write(i, 0, type_of(i), result);
}

// shf.l: the high word of (b:a) << n; shf.r: the low word of (b:a) >> n; n wraps or clamps at 32.
void emit_funnel(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  Value* low = b.resize(e.source(i, 1, Type::b32), 64, false);
  Value* high = b.resize(e.source(i, 2, Type::b32), 64, false);
  Value* amount = e.source(i, 3, Type::u32);
  amount = i.has("wrap") ? b.ir.CreateAnd(amount, b.splat(32, 31))
                         : b.binary(llvm::Intrinsic::umin, amount, b.splat(32, 32));
  amount = b.resize(amount, 64, false);
  Value* both = b.ir.CreateOr(low, b.ir.CreateShl(high, b.splat(64, 32)));
  Value* result = i.has("l") ? b.ir.CreateLShr(b.ir.CreateShl(both, amount), b.splat(64, 32))
                             : b.ir.CreateLShr(both, amount);
  e.write(i, 0, Type::b32, b.resize(result, 32, false));
}

// A field's position or length: of 32-bit fields the operand's low 8 bits, of 64-bit ones all of it.
Value* field_operand(FunctionEmitter& e, const Instruction& i, std::size_t k) {
  auto& b = e.lanes();
  Value* value = e.source(i, k, Type::u32);
  if (bits_of(i) == 32) value = b.ir.CreateAnd(value, b.splat(32, 255));
  return b.resize(value, 64, false);
}

// bfe: `len` bits from `pos`, both taken from their low 8 bits; signed fields extend by their topmost bit
// inside the register (bit min(pos + len - 1, width - 1)), also over a length of... zero, which gives 0.
void emit_bfe(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  const unsigned bits = bits_of(i);
  const bool sign = ptx::is_signed(type_of(i));
  Value* x = b.resize(e.source(i, 1, type_of(i)), 64, sign);
  Value* pos = field_operand(e, i, 2);
  Value* len = field_operand(e, i, 3);
  Value* width = b.splat(64, bits);
  Value* top = ir.CreateSub(b.binary(llvm::Intrinsic::umin, ir.CreateAdd(pos, len), width), b.splat(64, 1));
  Value* shift = b.binary(llvm::Intrinsic::umin, pos, b.splat(64, 63));
  Value* narrow = b.resize(x, bits, false);
  Value* field = ir.CreateLShr(b.resize(narrow, 64, false), shift);
  field = b.select(ir.CreateICmpUGE(pos, width), b.splat(64, 0), field);
  Value* long_field = ir.CreateICmpUGE(len, width);
  Value* kept = b.binary(llvm::Intrinsic::umin, len, b.splat(64, 63));
  Value* mask = ir.CreateSub(ir.CreateShl(b.splat(64, 1), kept), b.splat(64, 1));
  mask = b.select(long_field, b.splat(64, ~0ULL), mask);
  field = ir.CreateAnd(field, mask);
  if (sign) {
    Value* top_bit = ir.CreateTrunc(
        ir.CreateLShr(b.resize(narrow, 64, false), ir.CreateAnd(top, b.splat(64, 63))), b.int_lanes(1));
    Value* have =
        ir.CreateSub(ir.CreateAdd(top, b.splat(64, 1)), b.binary(llvm::Intrinsic::umin, pos, width));
    Value* have_mask = ir.CreateSub(
        ir.CreateShl(b.splat(64, 1), b.binary(llvm::Intrinsic::umin, have, b.splat(64, 63))), b.splat(64, 1));
    have_mask = b.select(ir.CreateICmpUGE(have, b.splat(64, 64)), b.splat(64, ~0ULL), have_mask);
    field = b.select(top_bit, ir.CreateOr(field, ir.CreateNot(have_mask)), field);
    field = b.select(ir.CreateICmpEQ(len, b.splat(64, 0)), b.splat(64, 0), field);
  }
  e.write(i, 0, type_of(i), b.resize(field, bits, false));
}

// bfi d, a, b, pos, len: the low len bits of a, put into b from bit pos.
void emit_bfi(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  const unsigned bits = bits_of(i);
  Value* x = b.resize(e.source(i, 1, type_of(i)), 64, false);
  Value* y = b.resize(e.source(i, 2, type_of(i)), 64, false);
  Value* pos = field_operand(e, i, 3);
  Value* len = field_operand(e, i, 4);
  Value* ones = ir.CreateSub(
      ir.CreateShl(b.splat(64, 1), b.binary(llvm::Intrinsic::umin, len, b.splat(64, 63))), b.splat(64, 1));
  ones = b.select(ir.CreateICmpUGE(len, b.splat(64, 64)), b.splat(64, ~0ULL), ones);
  Value* shift = b.binary(llvm::Intrinsic::umin, pos, b.splat(64, 63));
  Value* mask = ir.CreateShl(ones, shift);
  mask = b.select(ir.CreateICmpUGE(pos, b.splat(64, bits)), b.splat(64, 0), mask);
  Value* result =
      ir.CreateOr(ir.CreateAnd(ir.CreateShl(x, shift), mask), ir.CreateAnd(y, ir.CreateNot(mask)));
  e.write(i, 0, type_of(i), b.resize(result, bits, false));
}

void emit_count(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  Value* x = e.source(i, 1, type_of(i));
  Value* count = i.opcode == "clz" ? b.binary(llvm::Intrinsic::ctlz, x, b.ir.getInt1(false))
                                   : b.unary(llvm::Intrinsic::ctpop, x);
  e.write(i, 0, Type::u32, b.resize(count, 32, false));
}

void emit_brev(FunctionEmitter& e, const Instruction& i) {
  e.write(i, 0, type_of(i), e.lanes().unary(llvm::Intrinsic::bitreverse, e.source(i, 1, type_of(i))));
}

// The position of the topmost bit that differs from the sign (signed) or is set; none: all ones. shiftamt:
// how far to shift left to bring it to the top.
void emit_bfind(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const unsigned bits = bits_of(i);
  Value* x = e.source(i, 1, type_of(i));
  if (ptx::is_signed(type_of(i))) x = b.ir.CreateXor(x, b.ir.CreateAShr(x, b.splat(bits, bits - 1)));
  Value* zeros = b.binary(llvm::Intrinsic::ctlz, x, b.ir.getInt1(false));
  Value* found = i.has("shiftamt") ? zeros : b.ir.CreateSub(b.splat(bits, bits - 1), zeros);
  Value* none = b.ir.CreateICmpEQ(x, b.splat(bits, 0));
  e.write(i, 0, Type::u32, b.select(none, b.splat(32, ~0u), b.resize(found, 32, false)));
}

// bmsk: len ones from pos.
void emit_bmsk(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  const auto limited = [&](std::size_t k) {
    Value* v = e.source(i, k, Type::u32);
    v = i.has("wrap") ? ir.CreateAnd(v, b.splat(32, 31))
                      : b.binary(llvm::Intrinsic::umin, v, b.splat(32, 32));
    return b.resize(v, 64, false);
  };
  Value* ones = ir.CreateSub(ir.CreateShl(b.splat(64, 1), limited(2)), b.splat(64, 1));
  e.write(i, 0, Type::b32, b.resize(ir.CreateShl(ones, limited(1)), 32, false));
}

// The eight bytes of (b:a), picked by four selectors of 4 bits; bit 3 of one spreads the byte's sign.
void emit_prmt(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  const std::array operands{e.source(i, 1, Type::b32), e.source(i, 2, Type::b32), e.source(i, 3, Type::b32)};
  Value* both = ir.CreateOr(b.resize(operands[0], 64, false),
                            ir.CreateShl(b.resize(operands[1], 64, false), b.splat(64, 32)));
  Value* control = b.resize(operands[2], 64, false);
  Value* result = b.splat(64, 0);
  for (unsigned k = 0; k < 4; ++k) {
    Value* low = ir.CreateAnd(control, b.splat(64, 3));
    const auto constant = [&](unsigned n) { return b.splat(64, n); };
    Value* selector = nullptr;
    Value* base = b.ir.CreateAnd(control, constant(3));
    if (i.has("f4e")) {
      selector = ir.CreateAdd(base, constant(k));
    } else if (i.has("b4e")) {
      selector = ir.CreateAnd(ir.CreateSub(base, constant(k)), constant(7));
    } else if (i.has("rc8")) {
      selector = low;
    } else if (i.has("ecl")) {
      selector = b.binary(llvm::Intrinsic::umax, base, constant(k));
    } else if (i.has("ecr")) {
      selector = b.binary(llvm::Intrinsic::umin, base, constant(k));
    } else if (i.has("rc16")) {
      selector = ir.CreateAdd(ir.CreateShl(ir.CreateAnd(control, constant(1)), constant(1)), constant(k & 1));
    } else {
      selector = ir.CreateAnd(ir.CreateLShr(control, constant(4 * k)), constant(15));
    }
    Value* shift = ir.CreateShl(ir.CreateAnd(selector, constant(7)), constant(3));
    Value* byte = ir.CreateAnd(ir.CreateLShr(both, shift), constant(255));
    Value* spread = b.select(ir.CreateICmpUGE(byte, constant(128)), constant(255), constant(0));
    byte = b.select(ir.CreateICmpUGE(selector, constant(8)), spread, byte);
    result = ir.CreateOr(result, ir.CreateShl(byte, constant(8 * k)));
  }
  result = b.resize(result, 32, false);
  const bool by_byte = i.modifiers.size() == 1; // in no special mode
  if (by_byte) pass_bits(e, i, {BitOp::permute, 4, 3, 0}, operands, result);
  e.write(i, 0, Type::b32, result);
}

// fns: the offset-th set bit from `base` (0: the bit itself), counted upwards or downwards; none: all ones.
void emit_fns(FunctionEmitter& e, const Instruction& i) {
  Value* args[] = {e.source(i, 1, Type::b32), e.source(i, 2, Type::b32), e.source(i, 3, Type::b32)};
  e.write(i, 0, Type::b32, e.lanes().call_lanes("assay_fns", e.lanes().int_lanes(32), args));
}

} // namespace

Handler logic_handler(std::string_view opcode) {
  if (opcode == "and" || opcode == "or" || opcode == "xor") return emit_bitwise;
  if (opcode == "not") return emit_not;
  if (opcode == "cnot") return emit_cnot;
  if (opcode == "lop3") return emit_lop3;
  if (opcode == "shl" || opcode == "shr") return emit_shift;
  if (opcode == "shf") return emit_funnel;
  if (opcode == "bfe") return emit_bfe;
  if (opcode == "bfi") return emit_bfi;
  if (opcode == "clz" || opcode == "popc") return emit_count;
  if (opcode == "brev") return emit_brev;
  if (opcode == "bfind") return emit_bfind;
  if (opcode == "bmsk") return emit_bmsk;
  if (opcode == "prmt") return emit_prmt;
  if (opcode == "fns") return emit_fns;
  return nullptr;
}

} // namespace assay::cpu
