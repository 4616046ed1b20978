// shfl, vote, match, redux, activemask, elect, and the block's barriers. Where one of these may have to wait
// for other lanes, the block that it begins has gathered them (function_blocks.cpp); here they only compute.
#include "harness/device/cpu/emit/function_emitter.h"
#include "harness/device/cpu/emit/handlers.h"

#include <array>

namespace assay::cpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Type;

void synced(FunctionEmitter& e) {
  e.lanes().call("assay_warp_synced", e.ir().getVoidTy(), {e.warp(), e.executing()});
}

// Lane by lane: which lane is read, and whether it lies in the segment.
struct Sources {
  Value* lane;
  Value* inside; // <32 x i1>
};

Sources shuffle_sources(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  Value* amount = ir.CreateAnd(e.source(i, 2, Type::b32), b.splat(32, 31));
  Value* control = e.source(i, 3, Type::b32);
  Value* clamp = ir.CreateAnd(control, b.splat(32, 31));
  Value* segment = ir.CreateAnd(ir.CreateLShr(control, b.splat(32, 8)), b.splat(32, 31));
  Value* self = b.lane_numbers();
  Value* lowest = ir.CreateAnd(self, segment);
  Value* limit = ir.CreateOr(lowest, ir.CreateAnd(clamp, ir.CreateNot(segment)));
  Value* from = nullptr;
  Value* inside = nullptr;
  if (i.has("up")) {
    from = ir.CreateSub(self, amount);
    inside = ir.CreateICmpSGE(from, limit);
  } else {
    if (i.has("down")) from = ir.CreateAdd(self, amount);
    if (i.has("bfly")) from = ir.CreateXor(self, amount);
    if (i.has("idx")) from = ir.CreateOr(lowest, ir.CreateAnd(amount, ir.CreateNot(segment)));
    inside = ir.CreateICmpSLE(from, limit);
  }
  return {ir.CreateAnd(b.select(inside, from, self), b.splat(32, 31)), inside};
}

// values[index[lane]] in each lane.
Value* permute(FunctionEmitter& e, Value* values, Value* index) {
  auto& b = e.lanes();
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(index)) {
    std::vector<int> lanes;
    for (unsigned lane = 0; lane < 32; ++lane) {
      auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(lane));
      lanes.push_back(number ? static_cast<int>(number->getZExtValue()) : static_cast<int>(lane));
    }
    return b.ir.CreateShuffleVector(values, lanes);
  }
  return b.call_lanes("assay_permute", b.int_lanes(32), std::array{values, index});
}

void emit_shfl(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const Sources sources = shuffle_sources(e, i);
  e.use(e.taken_taint(), i);
  e.set_taint(nullptr);
  Value* value = e.source(i, 1, Type::b32);
  const auto permuted_mask = [&](Value* mask) {
    Value* bits = b.ir.CreateZExt(b.to_lanes(mask), b.int_lanes(32));
    return b.to_mask(b.ir.CreateICmpNE(permute(e, bits, sources.lane), b.splat(32, 0)));
  };
  // a lane that does not take part has nothing to give: its reader's result is undefined (and 0 here)
  Value* present = permuted_mask(e.executing());
  Value* undefined = b.ir.CreateNot(present);
  if (e.taken_taint()) undefined = b.ir.CreateOr(undefined, permuted_mask(e.taken_taint()));
  Value* result = b.select(b.to_lanes(present), permute(e, value, sources.lane), b.splat(32, 0));
  e.set_taint(undefined);
  e.write(i, 0, Type::b32, result);
  e.set_taint(nullptr);
  e.write_second(i, b.to_mask(sources.inside));
  synced(e);
}

Value* ballot_to_lanes(FunctionEmitter& e, Value* mask) { return e.lanes().splat_value(mask); }

void emit_vote(FunctionEmitter& e, const Instruction& i) {
  auto& ir = e.ir();
  Value* holds = ir.CreateAnd(e.source(i, 1, Type::pred), e.executing());
  e.use(e.taken_taint(), i);
  e.set_taint(nullptr);
  Value* all = ir.CreateICmpEQ(holds, e.executing());
  Value* none = ir.CreateICmpEQ(holds, ir.getInt32(0));
  if (i.has("ballot")) {
    e.write(i, 0, Type::b32, ballot_to_lanes(e, holds));
  } else {
    Value* answer = i.has("all") ? all : i.has("any") ? ir.CreateNot(none) : ir.CreateOr(all, none); // uni
    e.write(i, 0, Type::pred, ir.CreateSExt(answer, ir.getInt32Ty()));
  }
  if (i.has("sync")) synced(e);
}

void emit_match(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  const Type type = i.types.back();
  ir.CreateAlignedStore(b.resize(e.source(i, 1, type), 64, false), b.scratch(0), llvm::Align(64));
  e.use(e.taken_taint(), i);
  e.set_taint(nullptr);
  b.call("assay_match_any", ir.getVoidTy(), {e.executing(), b.scratch(0), b.scratch(1)});
  Value* alike = ir.CreateAlignedLoad(b.int_lanes(32), b.scratch(1), llvm::Align(64));
  if (i.has("any")) {
    e.write(i, 0, Type::b32, alike);
  } else {
    Value* everyone = b.splat_value(e.executing());
    Value* all = ir.CreateICmpEQ(alike, everyone);
    e.write(i, 0, Type::b32, b.select(all, everyone, b.splat(32, 0)));
    e.write_second(i, b.to_mask(all));
  }
  synced(e);
}

void emit_redux(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  const Type type = i.types.back();
  const bool sign = is_signed(type);
  Value* value = e.source(i, 1, type);
  Value* taint = e.taken_taint();
  if (taint) { // one undefined contribution makes every result undefined
    Value* any = ir.CreateICmpNE(ir.CreateAnd(taint, e.executing()), ir.getInt32(0));
    taint = ir.CreateSExt(any, ir.getInt32Ty());
  }
  e.set_taint(taint);
  const auto with = [&](std::uint64_t identity, llvm::Intrinsic::ID id) {
    Value* filled = b.select(b.to_lanes(e.executing()), value, b.splat(32, identity));
    return b.splat_value(ir.CreateIntrinsic(id, {filled->getType()}, {filled}));
  };
  Value* result = nullptr;
  if (i.has("add")) result = with(0, llvm::Intrinsic::vector_reduce_add);
  if (i.has("and")) result = with(~0u, llvm::Intrinsic::vector_reduce_and);
  if (i.has("or")) result = with(0, llvm::Intrinsic::vector_reduce_or);
  if (i.has("xor")) result = with(0, llvm::Intrinsic::vector_reduce_xor);
  if (i.has("min"))
    result = sign ? with(0x7fffffff, llvm::Intrinsic::vector_reduce_smin)
                  : with(~0u, llvm::Intrinsic::vector_reduce_umin);
  if (i.has("max"))
    result = sign ? with(0x80000000, llvm::Intrinsic::vector_reduce_smax)
                  : with(0, llvm::Intrinsic::vector_reduce_umax);
  e.write(i, 0, type, result);
  synced(e);
}

void emit_activemask(FunctionEmitter& e, const Instruction& i) {
  e.write(i, 0, Type::b32, ballot_to_lanes(e, e.executing()));
}

// The lowest lane of the member mask is elected.
void emit_elect(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  Value* leader = b.binary(llvm::Intrinsic::cttz, e.executing(), b.ir.getInt1(false));
  e.write(i, 0, Type::b32, b.splat_value(leader));
  Value* bit = b.ir.CreateAnd(e.executing(), b.ir.CreateNeg(e.executing()));
  e.write_second(i, bit);
  synced(e);
}

// A value that all lanes of a barrier give alike: that of the first.
Value* first_lane(FunctionEmitter& e, Value* lanes) {
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(lanes))
    if (auto* splat = constant->getSplatValue()) return splat;
  Value* lane = e.lanes().binary(llvm::Intrinsic::cttz, e.executing(), e.ir().getInt1(false));
  return e.ir().CreateExtractElement(lanes, e.ir().CreateAnd(lane, 31));
}

void emit_barrier(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  if (i.has("warp")) return synced(e);
  const bool reduces = i.has("red");
  BarrierMode mode = i.has("arrive") ? BarrierMode::arrive : BarrierMode::sync;
  if (i.has("popc")) mode = BarrierMode::reduce_popc;
  if (i.has("and")) mode = BarrierMode::reduce_and;
  if (i.has("or")) mode = BarrierMode::reduce_or;
  std::size_t next = reduces ? 1 : 0;
  const std::size_t last = i.operands.size() - (reduces ? 1 : 0);
  Value* id = next < last ? first_lane(e, e.source(i, next++, Type::u32)) : ir.getInt32(0);
  Value* count = next < last ? first_lane(e, e.source(i, next, Type::u32)) : ir.getInt32(0);
  Value* predicate = reduces ? e.source(i, last, Type::pred) : ir.getInt32(0);
  e.use(e.taken_taint(), i);
  e.set_taint(nullptr);
  const bool aligned = i.opcode == "bar" || i.has("aligned");
  e.scope().data.barriers.push_back({*e.site(i), mode, aligned});
  Value* result =
      b.call("assay_barrier", ir.getInt32Ty(),
             {e.warp(), e.executing(), b.pointer(&e.scope().data.barriers.back()), id, count, predicate});
  if (!reduces) return;
  if (mode == BarrierMode::reduce_popc) return e.write(i, 0, Type::u32, b.splat_value(result));
  e.write(i, 0, Type::pred, result);
}

} // namespace

Handler warp_handler(std::string_view opcode) {
  if (opcode == "shfl") return emit_shfl;
  if (opcode == "vote") return emit_vote;
  if (opcode == "match") return emit_match;
  if (opcode == "redux") return emit_redux;
  if (opcode == "activemask") return emit_activemask;
  if (opcode == "elect") return emit_elect;
  if (opcode == "bar" || opcode == "barrier") return emit_barrier;
  return nullptr;
}

} // namespace assay::cpu
