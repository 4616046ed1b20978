#include "harness/device/cpu/emit/partly_undefined.h"

#include <llvm/IR/MDBuilder.h>

namespace assay::cpu {

using llvm::Value;
using ptx::Instruction;

namespace {

// Runs `emit` only where some lane that executes is undefined; its mask, or `mask` where none is.
template <class Emit> Value* where_undefined(FunctionEmitter& e, Value* mask, Emit emit) {
  auto& ir = e.ir();
  auto& context = ir.getContext();
  llvm::BasicBlock* from = ir.GetInsertBlock();
  auto* some = llvm::BasicBlock::Create(context, "", from->getParent());
  auto* next = llvm::BasicBlock::Create(context, "", from->getParent());
  Value* any = ir.CreateICmpNE(ir.CreateAnd(mask, e.executing()), ir.getInt32(0));
  ir.CreateCondBr(any, some, next, llvm::MDBuilder(context).createUnlikelyBranchWeights());
  ir.SetInsertPoint(some);
  Value* found = emit();
  llvm::BasicBlock* after = ir.GetInsertBlock();
  ir.CreateBr(next);
  ir.SetInsertPoint(next);
  llvm::PHINode* merged = ir.CreatePHI(ir.getInt32Ty(), 2);
  merged->addIncoming(mask, from);
  merged->addIncoming(found, after);
  return merged;
}

} // namespace

Value* packed_undefined(FunctionEmitter& e, Value* whole, unsigned bits, std::span<Value* const> parts) {
  auto& b = e.lanes();
  Value* any = nullptr;
  for (Value* part : parts)
    if (part) any = any ? b.ir.CreateOr(any, part) : part;
  if (!any || bits > 64 || bits / parts.size() < 8) return any;
  return where_undefined(e, any, [&]() -> Value* {
    b.ir.CreateAlignedStore(b.resize(whole, 64, false), b.scratch(0), llvm::Align(64));
    for (std::size_t k = 0; k < parts.size(); ++k)
      b.ir.CreateStore(parts[k] ? parts[k] : b.ir.getInt32(0),
                       b.ir.CreateConstInBoundsGEP1_64(b.ir.getInt32Ty(), e.undefined_buffer(), k));
    b.call("assay_note_partial", b.ir.getVoidTy(),
           {e.warp(), b.ir.CreateAnd(any, e.executing()), b.scratch(0), b.ir.getInt32(bits / 8),
            b.ir.getInt32(static_cast<std::uint32_t>(parts.size())), e.undefined_buffer()});
    return any;
  });
}

Value* part_undefined(FunctionEmitter& e, Value* whole, unsigned bits, unsigned each, std::size_t k,
                      Value* mask) {
  if (!mask || bits > 64 || each < 8) return mask;
  auto& b = e.lanes();
  return where_undefined(e, mask, [&] {
    b.ir.CreateAlignedStore(b.resize(whole, 64, false), b.scratch(0), llvm::Align(64));
    return b.call("assay_part_undefined", b.ir.getInt32Ty(),
                  {e.warp(), b.ir.CreateAnd(mask, e.executing()), b.scratch(0), b.ir.getInt32(bits / 8),
                   b.ir.getInt32(static_cast<std::uint32_t>(k) * each / 8), b.ir.getInt32(each / 8)});
  });
}

void pass_bits(FunctionEmitter& e, const Instruction& i, BitRule rule, std::span<Value* const> values,
               Value* result) {
  if (!e.taken_taint()) return;
  auto& b = e.lanes();
  auto& ir = b.ir;
  Value* mask = e.taken_taint();
  e.set_taint(where_undefined(e, mask, [&] {
    Value* places = b.scratch(0);
    const auto count = static_cast<unsigned>(values.size());
    for (unsigned k = 0; k < count; ++k) {
      ir.CreateAlignedStore(values[k], b.scratch(k + 1), llvm::Align(64));
      ir.CreateStore(b.scratch(k + 1), ir.CreateConstInBoundsGEP1_64(ir.getPtrTy(), places, k));
      Value* undefined = e.undefined_lanes(i.operands[k + 1]);
      ir.CreateStore(undefined ? undefined : ir.getInt32(0),
                     ir.CreateConstInBoundsGEP1_64(ir.getInt32Ty(), e.undefined_buffer(), k));
    }
    ir.CreateAlignedStore(result, b.scratch(count + 1), llvm::Align(64));
    const BitRule* rule_data = &e.scope().data.bit_rules.emplace_back(rule);
    return b.call("assay_bits_undefined", ir.getInt32Ty(),
                  {e.warp(), ir.CreateAnd(mask, e.executing()), b.pointer(rule_data), places,
                   e.undefined_buffer(), b.scratch(count + 1)});
  }));
}

} // namespace assay::cpu
