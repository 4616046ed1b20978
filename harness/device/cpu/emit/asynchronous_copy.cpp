// cp.async.
#include "harness/device/cpu/emit/handlers.h"
#include "harness/device/cpu/emit/memory_operands.h"

namespace assay::cpu {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

void emit_cp_async(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  if (i.has("mbarrier")) return emit_copies_arrive(e, i);
  if (i.has("commit_group")) {
    b.call("assay_copies_commit", b.ir.getVoidTy(), {e.warp(), e.executing()});
    return;
  }
  if (!i.has("global")) { // wait_group, wait_all
    std::uint64_t groups = ~0u;
    if (i.has("wait_group")) {
      if (i.operands[0].kind != Operand::Kind::integer)
        return e.fail(i, ErrorKind::user, "cp.async.wait_group takes a literal");
      groups = i.operands[0].bits;
    }
    b.call("assay_copies_wait", b.ir.getVoidTy(),
           {e.warp(), e.executing(), b.ir.getInt32(static_cast<std::uint32_t>(groups))});
    return;
  }
  const Operand& size = i.operands[2];
  const std::uint64_t bytes = size.kind == Operand::Kind::integer ? size.bits : 0;
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return e.fail(i, ErrorKind::user, "cp.async copies 4, 8 or 16 bytes");
  const auto words = static_cast<unsigned>(bytes / 4);
  Space from = Space::global, to = Space::shared;
  b.ir.CreateAlignedStore(e.address(i, i.operands[1], from), b.scratch(0), llvm::Align(64));
  b.ir.CreateAlignedStore(e.address(i, i.operands[0], to), b.scratch(1), llvm::Align(64));
  Value* read = llvm::ConstantPointerNull::get(b.ir.getPtrTy());
  if (i.operands.size() > 3) { // only the first `src-size` bytes are read, the rest is zero
    e.set_taint(nullptr);
    Value* count = e.source(i, 3, Type::u32);
    e.use(e.taken_taint(), i);
    read = b.scratch(2);
    b.ir.CreateAlignedStore(count, read, llvm::Align(64));
  }
  const CopyAccess access{*describe(e, i, from, 4, words), *describe(e, i, to, 4, words)};
  const CopyAccess* kept = &e.scope().data.copies.emplace_back(access);
  b.call("assay_copy", b.ir.getVoidTy(),
         {e.warp(), e.executing(), b.pointer(kept), b.scratch(0), b.scratch(1), read});
}

} // namespace assay::cpu
