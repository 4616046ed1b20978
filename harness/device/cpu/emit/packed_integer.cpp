// Two 16-bit integers in a register, and what is left of the video instructions: sums of absolute
// differences.
#include "harness/device/cpu/emit/function_emitter.h"
#include "harness/device/cpu/emit/handlers.h"
#include "harness/device/cpu/emit/partly_undefined.h"

namespace assay::cpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Type;

// 32 registers as elements of `bits`, in order from the lowest.
Value* elements(FunctionEmitter& e, Value* lanes, unsigned bits) {
  auto& ir = e.ir();
  return ir.CreateBitCast(lanes, llvm::FixedVectorType::get(ir.getIntNTy(bits), 32 * (32 / bits)));
}

void emit_packed(FunctionEmitter& e, const Instruction& i) {
  auto& ir = e.ir();
  Value* const operands[] = {e.source(i, 1, Type::b32), e.source(i, 2, Type::b32)};
  Value* a = elements(e, operands[0], 16);
  Value* b = elements(e, operands[1], 16);
  const bool sign = i.has("s16x2");
  Value* result = nullptr;
  if (i.opcode == "add") result = ir.CreateAdd(a, b);
  if (i.opcode == "min")
    result = e.lanes().binary(sign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
  if (i.opcode == "max")
    result = e.lanes().binary(sign ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
  if (i.has("relu"))
    result = e.lanes().binary(llvm::Intrinsic::smax, result, llvm::Constant::getNullValue(result->getType()));
  result = ir.CreateBitCast(result, e.lanes().int_lanes(32));
  pass_bits(e, i, {BitOp::parts, 4, 2, 2}, operands, result);
  e.write(i, 0, Type::b32, result);
}

// Unsigned elements; with .add their differences' sum is added to the last operand.
void emit_absolute_difference(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  const unsigned bits = i.opcode == "vabsdiff4" ? 8 : 16;
  Value* x = elements(e, e.source(i, 1, Type::u32), bits);
  Value* y = elements(e, e.source(i, 2, Type::u32), bits);
  Value* difference =
      ir.CreateSub(b.binary(llvm::Intrinsic::umax, x, y), b.binary(llvm::Intrinsic::umin, x, y));
  Value* packed = ir.CreateBitCast(difference, b.int_lanes(32));
  if (!i.has("add")) return e.write(i, 0, Type::u32, packed);
  Value* sum = e.source(i, 3, Type::u32);
  for (unsigned at = 0; at < 32; at += bits)
    sum = ir.CreateAdd(sum,
                       ir.CreateAnd(ir.CreateLShr(packed, b.splat(32, at)), b.splat(32, (1u << bits) - 1)));
  e.write(i, 0, Type::u32, sum);
}

} // namespace

Handler packed_handler(std::string_view opcode, const Instruction& i) {
  if (opcode == "vabsdiff2" || opcode == "vabsdiff4") return emit_absolute_difference;
  return i.has("u16x2") || i.has("s16x2") ? emit_packed : nullptr;
}

} // namespace assay::cpu
