// setp, set, selp, slct.
#include "harness/device/cpu/emit/floats.h"
#include "harness/device/cpu/emit/handlers.h"

#include <array>

namespace assay::cpu {
namespace {

using llvm::CmpInst;
using llvm::Value;
using ptx::Instruction;
using ptx::Type;

CmpInst::Predicate integer_predicate(std::string_view name, bool sign) {
  if (name == "eq") return CmpInst::ICMP_EQ;
  if (name == "ne") return CmpInst::ICMP_NE;
  if (name == "lt") return sign ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT;
  if (name == "le") return sign ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE;
  if (name == "gt") return sign ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT;
  if (name == "ge") return sign ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE;
  if (name == "lo") return CmpInst::ICMP_ULT;
  if (name == "ls") return CmpInst::ICMP_ULE;
  if (name == "hi") return CmpInst::ICMP_UGT;
  return CmpInst::ICMP_UGE; // hs
}

CmpInst::Predicate float_predicate(std::string_view name) {
  if (name == "eq") return CmpInst::FCMP_OEQ;
  if (name == "ne") return CmpInst::FCMP_ONE;
  if (name == "lt") return CmpInst::FCMP_OLT;
  if (name == "le") return CmpInst::FCMP_OLE;
  if (name == "gt") return CmpInst::FCMP_OGT;
  if (name == "ge") return CmpInst::FCMP_OGE;
  if (name == "equ") return CmpInst::FCMP_UEQ;
  if (name == "neu") return CmpInst::FCMP_UNE;
  if (name == "ltu") return CmpInst::FCMP_ULT;
  if (name == "leu") return CmpInst::FCMP_ULE;
  if (name == "gtu") return CmpInst::FCMP_UGT;
  if (name == "geu") return CmpInst::FCMP_UGE;
  return name == "num" ? CmpInst::FCMP_ORD : CmpInst::FCMP_UNO;
}

// Where a hook is set, tells it the operands of the first lane.
void tell_hook(FunctionEmitter& e, const Instruction& i, Value* x, Value* y, unsigned bits) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  llvm::Function* function = ir.GetInsertBlock()->getParent();
  auto* tell = llvm::BasicBlock::Create(ir.getContext(), "compare", function);
  auto* next = llvm::BasicBlock::Create(ir.getContext(), "", function);
  Value* enabled = ir.CreateLoad(ir.getInt32Ty(), b.pointer(e.scope().data.compare_enabled));
  ir.CreateCondBr(ir.CreateICmpEQ(enabled, ir.getInt32(0)), next, tell);
  ir.SetInsertPoint(tell);
  ir.CreateAlignedStore(b.resize(x, 64, false), b.scratch(0), llvm::Align(64));
  ir.CreateAlignedStore(b.resize(y, 64, false), b.scratch(1), llvm::Align(64));
  b.call("assay_compare_lanes", ir.getVoidTy(),
         {e.executing(), b.pointer(e.site(i)), b.scratch(0), b.scratch(1), ir.getInt32(bits)});
  ir.CreateBr(next);
  ir.SetInsertPoint(next);
}

Value* compare(FunctionEmitter& e, const Instruction& i, Type type, std::string_view relation) {
  auto& b = e.lanes();
  if (is_integer(type)) {
    Value* x = e.source(i, 1, type);
    Value* y = e.source(i, 2, type);
    if (!llvm::isa<llvm::Constant>(x) || !llvm::isa<llvm::Constant>(y)) tell_hook(e, i, x, y, bits_of(type));
    return b.ir.CreateICmp(integer_predicate(relation, is_signed(type)), x, y);
  }
  const auto operand = [&](std::size_t k) {
    Value* value = e.source(i, k, type);
    if (type == Type::f16 || type == Type::bf16) {
      if (i.has("ftz")) value = flush_half(e, value, type == Type::bf16);
      return widen_half(e, value, type == Type::bf16);
    }
    return type == Type::f32 && i.has("ftz") ? flush_subnormals(e, value) : value;
  };
  return b.ir.CreateFCmp(float_predicate(relation), operand(1), operand(2));
}

// and, or, xor with a further predicate, if the instruction has one.
Value* combine(FunctionEmitter& e, const Instruction& i, Value* mask, Value* other) {
  if (i.modifiers[1] == "and") return e.ir().CreateAnd(mask, other);
  if (i.modifiers[1] == "or") return e.ir().CreateOr(mask, other);
  return e.ir().CreateXor(mask, other);
}

Value* compare_packed(FunctionEmitter& e, const Instruction& i, Type type, unsigned shift) {
  auto& b = e.lanes();
  const bool bf16 = type == Type::bf16x2;
  const auto operand = [&](std::size_t k) {
    Value* half = b.resize(b.ir.CreateLShr(e.source(i, k, Type::b32), b.splat(32, shift)), 16, false);
    return widen_half(e, i.has("ftz") ? flush_half(e, half, bf16) : half, bf16);
  };
  return b.ir.CreateFCmp(float_predicate(i.modifiers[0]), operand(1), operand(2));
}

void emit_setp(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const Type type = i.types.back();
  const bool combined = i.operands.size() == 4;
  const auto with = [&](Value* mask) {
    return combined ? combine(e, i, mask, e.source(i, 3, Type::pred)) : mask;
  };
  if (type == Type::f16x2 || type == Type::bf16x2) {
    Value* low = b.to_mask(compare_packed(e, i, type, 0));
    Value* high = b.to_mask(compare_packed(e, i, type, 16));
    Value* first = with(low);
    Value* second = with(high);
    e.write(i, 0, Type::pred, first);
    return e.write_second(i, second);
  }
  Value* mask = b.to_mask(compare(e, i, type, i.modifiers[0]));
  Value* first = with(mask);
  Value* second = with(b.ir.CreateNot(mask));
  e.write(i, 0, Type::pred, first);
  e.write_second(i, second);
}

// set: the comparison as a number: all ones or 1.0.
void emit_set(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const Type to = i.types[0], type = i.types[1];
  if (to == Type::f16x2 || to == Type::bf16x2 || type == Type::f16x2 || type == Type::bf16x2) {
    const auto half = [&](unsigned shift) {
      Value* mask = b.to_mask(compare_packed(e, i, type, shift));
      if (i.operands.size() == 4) mask = combine(e, i, mask, e.source(i, 3, Type::pred));
      const std::uint64_t one = is_integer(to) ? 0xffff : to == Type::f16x2 ? 0x3c00 : 0x3f80;
      return b.select(b.to_lanes(mask), b.splat(32, one << shift), b.splat(32, 0));
    };
    return e.write(i, 0, Type::b32, b.ir.CreateOr(half(0), half(16)));
  }
  Value* mask = b.to_mask(compare(e, i, type, i.modifiers[0]));
  if (i.operands.size() == 4) mask = combine(e, i, mask, e.source(i, 3, Type::pred));
  std::uint64_t one = ~0ULL;
  if (to == Type::f32) one = 0x3f800000;
  if (to == Type::f16) one = 0x3c00;
  if (to == Type::bf16) one = 0x3f80;
  const unsigned bits = bits_of(to);
  Value* bits_value = b.select(b.to_lanes(mask), b.splat(bits, one), b.splat(bits, 0));
  e.write(i, 0, to, b.cast(bits_value, b.lanes_of(to)));
}

void emit_selp(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const Type type = i.types.back();
  Value* yes = e.source(i, 1, type);
  Value* yes_taint = e.taken_taint();
  e.set_taint(nullptr);
  Value* no = e.source(i, 2, type);
  Value* no_taint = e.taken_taint();
  e.set_taint(nullptr);
  Value* chooses = e.source(i, 3, Type::pred);
  if (yes_taint) e.taint(b.ir.CreateAnd(yes_taint, chooses)); // the operand not chosen does not matter
  if (no_taint) e.taint(b.ir.CreateAnd(no_taint, b.ir.CreateNot(chooses)));
  e.write(i, 0, type, b.select(b.to_lanes(chooses), yes, no));
}

// slct d, a, b, c: a where c >= 0 (-0 too, NaN not), else b.
void emit_slct(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const Type type = i.types[0];
  Value* chooses = nullptr;
  if (i.types[1] == Type::f32) {
    Value* c = e.source(i, 3, Type::f32);
    if (i.has("ftz")) c = flush_subnormals(e, c);
    chooses = b.ir.CreateFCmpOGE(c, b.splat_f32(0));
  } else {
    chooses = b.ir.CreateICmpSGE(e.source(i, 3, Type::s32), b.splat(32, 0));
  }
  e.write(i, 0, type, b.select(chooses, e.source(i, 1, type), e.source(i, 2, type)));
}

} // namespace

Handler compare_handler(std::string_view opcode) {
  if (opcode == "setp") return emit_setp;
  if (opcode == "set") return emit_set;
  if (opcode == "selp") return emit_selp;
  if (opcode == "slct") return emit_slct;
  return nullptr;
}

} // namespace assay::cpu
