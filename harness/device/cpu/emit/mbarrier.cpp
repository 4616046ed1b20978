// mbarrier, and the arrival of copies that cp.async made.
#include "harness/device/cpu/emit/function_emitter.h"
#include "harness/device/cpu/emit/handlers.h"

namespace assay::cpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Type;

constexpr std::uint64_t pending_mask = (1u << 20) - 1; // of a state, as runtime/mbarrier.cpp has it

std::uint8_t ordering_of(const Instruction& i, MbarrierOp op) {
  if (op == MbarrierOp::init || op == MbarrierOp::inval) return weak;
  if (i.has("relaxed") || op == MbarrierOp::expect_tx || op == MbarrierOp::complete_tx) return relaxed;
  return op == MbarrierOp::wait_state || op == MbarrierOp::wait_parity ? acquire : release;
}

// Runs the operation at operand `at`; `operand` as MbarrierOp says. Gives the lanes whose wait is over.
Value* run(FunctionEmitter& e, const Instruction& i, MbarrierOp op, std::size_t at, Value* operand,
           Value* state) {
  auto& b = e.lanes();
  Space space = i.has("shared") || i.has("shared::cta") ? Space::shared : Space::generic;
  Value* address = e.address(i, i.operands[at], space);
  e.use(e.taken_taint(), i);
  e.set_taint(nullptr);
  b.ir.CreateAlignedStore(address, b.scratch(0), llvm::Align(64));
  b.ir.CreateAlignedStore(operand, b.scratch(1), llvm::Align(64));
  const MbarrierAccess& access = e.scope().data.mbarriers.emplace_back(
      MbarrierAccess{{*e.site(i), space, 8, 1, ordering_of(i, op)}, op, i.has("expect_tx") && at == 1});
  return b.call("assay_mbarrier", b.ir.getInt32Ty(),
                {e.warp(), e.executing(), b.pointer(&access), b.scratch(0), b.scratch(1), state});
}

Value* no_state(FunctionEmitter& e) { return llvm::ConstantPointerNull::get(e.ir().getPtrTy()); }

// The count or number of bytes at operand k, 1 where there is none.
Value* count_at(FunctionEmitter& e, const Instruction& i, std::size_t k) {
  auto& b = e.lanes();
  return k < i.operands.size() ? b.resize(e.source(i, k, Type::u32), 64, false) : b.splat(64, 1);
}

void emit_arrive(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  Value* count = count_at(e, i, 2);
  run(e, i, i.has("arrive_drop") ? MbarrierOp::arrive_drop : MbarrierOp::arrive, 1, count, b.scratch(2));
  e.write(i, 0, Type::b64, b.ir.CreateAlignedLoad(b.int_lanes(64), b.scratch(2), llvm::Align(64)));
}

// The hint how long try_wait may suspend the thread has no meaning here: no clock decides.
void emit_wait(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const bool parity = i.has("parity");
  Value* operand = parity ? b.resize(e.source(i, 2, Type::u32), 64, false) : e.source(i, 2, Type::b64);
  Value* over = run(e, i, parity ? MbarrierOp::wait_parity : MbarrierOp::wait_state, 1, operand, no_state(e));
  e.write(i, 0, Type::pred, over);
}

void emit_mbarrier(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  if (i.has("arrive") || i.has("arrive_drop")) return emit_arrive(e, i);
  if (i.has("test_wait") || i.has("try_wait")) return emit_wait(e, i);
  if (i.has("pending_count")) {
    Value* state = e.source(i, 1, Type::b64);
    Value* pending = b.ir.CreateAnd(state, b.splat(64, pending_mask));
    return e.write(i, 0, Type::u32, b.resize(pending, 32, false));
  }
  MbarrierOp op = MbarrierOp::init;
  if (i.has("inval")) op = MbarrierOp::inval;
  if (i.has("expect_tx")) op = MbarrierOp::expect_tx;
  if (i.has("complete_tx")) op = MbarrierOp::complete_tx;
  run(e, i, op, 0, count_at(e, i, 1), no_state(e));
}

} // namespace

// The lanes' copies end here, the earliest that the arrival may be; without .noinc the phase expects that
// arrival in addition, and nothing changes.
void emit_copies_arrive(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  b.call("assay_copies_wait", b.ir.getVoidTy(), {e.warp(), e.executing(), b.ir.getInt32(~0u)});
  run(e, i, MbarrierOp::arrive, 0, e.lanes().splat(64, i.has("noinc") ? 1 : 0), no_state(e));
}

Handler mbarrier_handler(std::string_view opcode) { return opcode == "mbarrier" ? emit_mbarrier : nullptr; }

} // namespace assay::cpu
