// cp.async.
#include "harness/device/cpu/emit/handlers.h"
#include "harness/device/cpu/emit/memory_operands.h"

namespace assay::cpu {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

// The copy is made at once, not at the wait: a right kernel cannot tell, and the race check sees both
// accesses.
void emit_cp_async(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  if (i.has("mbarrier")) return emit_copies_arrive(e, i);
  if (!i.has("global")) return; // commit_group, wait_group, wait_all: nothing is pending
  const Operand& size = i.operands[2];
  const std::uint64_t bytes = size.kind == Operand::Kind::integer ? size.bits : 0;
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return e.fail(i, ErrorKind::user, "cp.async copies 4, 8 or 16 bytes");
  const auto vector = static_cast<unsigned>(bytes / 4);
  Space from = Space::global, to = Space::shared;
  Value* source = e.address(i, i.operands[1], from);
  Value* target = e.address(i, i.operands[0], to);
  Value* everyone = e.executing();
  b.ir.CreateAlignedStore(source, b.scratch(0), llvm::Align(64));
  const bool partial = i.operands.size() > 3;
  if (!partial) {
    b.call("assay_load", b.ir.getVoidTy(),
           {e.warp(), everyone, b.pointer(describe(e, i, from, 4, vector)), b.scratch(0), e.value_buffer(),
            e.undefined_buffer()});
  } else { // only the first `src-size` bytes are read, the rest is zero
    Value* count = e.source(i, 3, Type::u32);
    e.use(e.taken_taint(), i);
    for (unsigned k = 0; k < vector; ++k) {
      Value* reads = b.to_mask(b.ir.CreateICmpUGT(count, b.splat(32, 4 * k)));
      Value* place = element(e, e.value_buffer(), k, 4);
      b.ir.CreateAlignedStore(b.splat(32, 0), place, llvm::Align(32));
      b.ir.CreateAlignedStore(b.ir.CreateAdd(source, b.splat(64, 4 * k)), b.scratch(0), llvm::Align(64));
      b.call("assay_load", b.ir.getVoidTy(),
             {e.warp(), b.ir.CreateAnd(everyone, reads), b.pointer(describe(e, i, from, 4, 1)), b.scratch(0),
              place, undefined_place(e, k)});
    }
  }
  b.ir.CreateAlignedStore(target, b.scratch(0), llvm::Align(64));
  b.call("assay_store", b.ir.getVoidTy(),
         {e.warp(), everyone, b.pointer(describe(e, i, to, 4, vector)), b.scratch(0), e.value_buffer(),
          e.undefined_buffer()});
}

} // namespace assay::cpu
