// The frame of an emitted function, and the flow of lanes between its blocks.
#include "harness/device/cpu/emit/areas.h"
#include "harness/device/cpu/emit/flow.h"
#include "harness/device/cpu/emit/function_emitter.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace assay::cpu {

using llvm::BasicBlock;
using llvm::Value;
using ptx::Type;

namespace {

constexpr std::array<std::uint32_t, warp_lanes> every_lane = [] {
  std::array<std::uint32_t, warp_lanes> lanes{};
  lanes.fill(~0u);
  return lanes;
}();

} // namespace

Value* FunctionEmitter::flow_field(std::size_t offset) {
  return ir().CreateConstInBoundsGEP1_64(ir().getInt8Ty(), flow_, offset);
}

Value* FunctionEmitter::waiting_slot(std::uint32_t block) {
  return ir().CreateConstInBoundsGEP1_64(ir().getInt32Ty(), waiting_, block);
}

const ptx::Instruction& FunctionEmitter::instruction_of(const Block& block) const {
  const std::uint32_t last = static_cast<std::uint32_t>(function_.instructions.size()) - 1;
  return function_.instructions[std::min(block.first < block.end ? block.first : block.ender, last)];
}

void FunctionEmitter::begin_frame(llvm::Function* into) {
  into_ = into;
  auto& context = ir().getContext();
  BasicBlock* frame = BasicBlock::Create(context, "frame", into);
  lanes().set_frame(frame);
  ir().SetInsertPoint(frame);
  warp_ = into->getArg(0);
  flow_ = lanes().slot(ir().getInt8Ty(), sizeof(Flow));
  const auto count = static_cast<std::uint32_t>(blocks_.size());
  waiting_ = lanes().slot(ir().getInt32Ty(), count);
  Value* runnable = lanes().slot(ir().getInt64Ty(), (count + 63) / 64);
  auto& waits = scope_.data.waits.emplace_back(count, nullptr);
  for (std::uint32_t b = 0; b < count; ++b)
    if (blocks_[b].wait == Wait::named || blocks_[b].wait == Wait::all)
      waits[b] = site(instruction_of(blocks_[b]));
  lanes().call("assay_flow_begin", ir().getVoidTy(),
               {flow_, ir().getInt32(count), waiting_, runnable,
                lanes().pointer(static_cast<const void*>(waits.data()))});
  Value* first = function_.entry ? alive() : into->getArg(1);
  ir().CreateStore(first, flow_field(offsetof(Flow, active)));

  places_.resize(function_.registers.size());
  for (std::size_t reg = 0; reg < places_.size(); ++reg) {
    if (!live_.crosses[reg]) continue;
    const Type type = function_.registers[reg].type;
    llvm::Type* lanes_type =
        type == Type::pred ? static_cast<llvm::Type*>(ir().getInt32Ty()) : lanes().int_lanes(bits_of(type));
    places_[reg].value = lanes().slot(lanes_type);
    if (tainted_[reg]) places_[reg].undefined = lanes().slot(ir().getInt32Ty());
    if (!live_.in[0][reg]) continue; // read before it is written, at least on paper
    ir().CreateStore(llvm::Constant::getNullValue(lanes_type), places_[reg].value);
    if (places_[reg].undefined) ir().CreateStore(ir().getInt32(0), places_[reg].undefined);
  }
  LocalFrame frame_of_locals = local_frame(function_);
  local_offsets_ = std::move(frame_of_locals.offsets);
  areas_.resize(function_.variables.size());
  const std::size_t passed = function_.entry ? 0 : function_.params.size() + function_.results.size();
  for (std::size_t v = 0; v < function_.variables.size(); ++v) {
    const ptx::Variable& variable = function_.variables[v];
    if (v < passed) { // results come first in what the caller passes
      const std::size_t position =
          v < function_.params.size() ? v + function_.results.size() : v - function_.params.size();
      Value* place = ir().CreateConstInBoundsGEP1_64(ir().getPtrTy(), into->getArg(2), position);
      areas_[v] = ir().CreateLoad(ir().getPtrTy(), place);
    } else if (variable.space == ptx::Space::param && !(function_.entry && v < function_.params.size())) {
      areas_[v] = lanes().slot(ir().getInt8Ty(), std::max<std::uint64_t>(area_bytes(variable.bytes), 64));
    }
  }
  const bool calls = std::ranges::any_of(function_.instructions,
                                         [](const ptx::Instruction& i) { return i.opcode == "call"; });
  if (frame_of_locals.bytes != 0 || calls) { // also the check of the native stack
    const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(frame_of_locals.bytes, 1u << 30));
    local_base_ = lanes().call("assay_enter_local", ir().getInt32Ty(),
                               {warp_, ir().getInt32(bytes), ir().getInt32(frame_of_locals.alignment)});
  }
  dispatch_ = BasicBlock::Create(context, "dispatch", into);
  return_ = BasicBlock::Create(context, "return", into);
  for (std::uint32_t b = 0; b < count; ++b)
    entries_.push_back(BasicBlock::Create(context, "block" + std::to_string(b), into));
  ir().CreateBr(entries_[0]);
}

void FunctionEmitter::emit_block(std::uint32_t index) {
  const Block& block = blocks_[index];
  ir().SetInsertPoint(entries_[index]);
  std::ranges::fill(values_, nullptr);
  std::ranges::fill(masks_, nullptr);
  std::ranges::fill(before_, nullptr);
  std::ranges::fill(before_masks_, nullptr);
  for (const std::uint32_t reg : written_) dirty_[reg] = false;
  written_.clear();
  shapes_.clear();
  next_shape_ = 0;
  active_ = ir().CreateLoad(ir().getInt32Ty(), flow_field(offsetof(Flow, active)));
  executing_ = active_;
  if (block.wait != Wait::none) gather(index);
  executing_ = active_;
  count_step(index);
  for (std::uint32_t i = block.first; i < block.end && !error_; ++i)
    emit_instruction(function_.instructions[i]);
  if (error_) return;
  executing_ = active_;
  end_block(index);
}

// Waits until all lanes that the block's first instruction names stand here; active_ becomes those that go
// on.
void FunctionEmitter::gather(std::uint32_t index) {
  const Block& block = blocks_[index];
  auto& context = ir().getContext();
  Value* number = ir().getInt32(index);
  if (block.wait == Wait::nobody_else_runs) {
    Value* group = lanes().call("assay_flow_gather_last", ir().getInt32Ty(), {warp_, flow_, number, active_});
    BasicBlock* together = BasicBlock::Create(context, "", into_);
    ir().CreateCondBr(ir().CreateICmpNE(group, ir().getInt32(0)), together, dispatch_);
    ir().SetInsertPoint(together);
    active_ = group;
    return;
  }
  Value* members_place = lanes().pointer(every_lane.data());
  Value* needed = alive();
  Value* strangers = nullptr; // lanes that execute it though their mask does not name them
  Value* alike = nullptr;
  if (block.wait == Wait::named) {
    const ptx::Instruction& i = function_.instructions[block.first];
    instruction_ = &i;
    undefined_ = nullptr;
    Value* members = source(i, i.operands.empty() ? 0 : i.operands.size() - 1, Type::b32);
    use(undefined_, i);
    members_place = lanes().scratch(0);
    ir().CreateAlignedStore(members, members_place, llvm::Align(64));
    Value* first = nullptr;
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(members)) {
      first = constant->getSplatValue();
    } else {
      Value* lane = lanes().binary(llvm::Intrinsic::cttz, active_, ir().getInt1(false));
      first = ir().CreateExtractElement(members, ir().CreateAnd(lane, 31));
      Value* same = lanes().to_mask(ir().CreateICmpEQ(members, lanes().splat_value(first)));
      alike = ir().CreateICmpEQ(ir().CreateAnd(same, active_), active_);
    }
    needed = ir().CreateAnd(needed, first);
    strangers = ir().CreateAnd(active_, ir().CreateNot(first));
  }
  Value* amiss = ir().CreateAnd(needed, ir().CreateNot(active_));
  if (strangers) amiss = ir().CreateOr(amiss, strangers);
  Value* complete = ir().CreateICmpEQ(amiss, ir().getInt32(0));
  if (alike) complete = ir().CreateAnd(complete, alike);
  BasicBlock* from = ir().GetInsertBlock();
  BasicBlock* slow = BasicBlock::Create(context, "", into_);
  BasicBlock* together = BasicBlock::Create(context, "", into_);
  ir().CreateCondBr(complete, together, slow, llvm::MDBuilder(context).createLikelyBranchWeights());
  ir().SetInsertPoint(slow);
  Value* group =
      lanes().call("assay_flow_gather", ir().getInt32Ty(), {warp_, flow_, number, active_, members_place});
  ir().CreateCondBr(ir().CreateICmpNE(group, ir().getInt32(0)), together, dispatch_);
  ir().SetInsertPoint(together);
  llvm::PHINode* merged = ir().CreatePHI(ir().getInt32Ty(), 2);
  merged->addIncoming(active_, from);
  merged->addIncoming(group, slow);
  active_ = merged;
}

void FunctionEmitter::count_step(std::uint32_t index) {
  auto& context = ir().getContext();
  Value* counters = warp_field(offsetof(Warp, block_counters), ir().getPtrTy());
  Value* counter = ir().CreateConstInBoundsGEP1_64(ir().getInt8Ty(), counters, scope_.first_block + index);
  Value* count = ir().CreateLoad(ir().getInt8Ty(), counter);
  ir().CreateStore(lanes().binary(llvm::Intrinsic::uadd_sat, count, ir().getInt8(1)), counter);
  Value* place = ir().CreateConstInBoundsGEP1_64(ir().getInt8Ty(), warp_, offsetof(Warp, steps_until_tick));
  Value* steps = ir().CreateSub(ir().CreateLoad(ir().getInt64Ty(), place), ir().getInt64(1));
  ir().CreateStore(steps, place);
  BasicBlock* tick = BasicBlock::Create(context, "tick", into_);
  BasicBlock* next = BasicBlock::Create(context, "", into_);
  ir().CreateCondBr(ir().CreateICmpSLE(steps, ir().getInt64(0)), tick, next,
                    llvm::MDBuilder(context).createUnlikelyBranchWeights());
  ir().SetInsertPoint(tick);
  const Site* where = nullptr;
  if (!function_.instructions.empty()) where = site(instruction_of(blocks_[index]));
  lanes().call("assay_flow_tick", ir().getVoidTy(), {warp_, flow_, lanes().pointer(where)});
  ir().CreateBr(next);
  ir().SetInsertPoint(next);
}

void FunctionEmitter::write_back(std::uint32_t index) {
  Value* mask = nullptr;
  for (const std::uint32_t reg : written_) {
    if (!live_.out[index][reg] || !places_[reg].value) continue;
    Value* value = values_[reg];
    if (value->getType()->isVectorTy()) {
      Value* old = before_[reg];
      if (!old) old = ir().CreateAlignedLoad(value->getType(), places_[reg].value, llvm::Align(64));
      if (!mask) mask = lanes().to_lanes(active_);
      ir().CreateAlignedStore(lanes().select(mask, value, old), places_[reg].value, llvm::Align(64));
    } else {
      Value* old = before_[reg] ? before_[reg] : ir().CreateLoad(ir().getInt32Ty(), places_[reg].value);
      Value* kept = ir().CreateAnd(old, ir().CreateNot(active_));
      ir().CreateStore(ir().CreateOr(kept, ir().CreateAnd(value, active_)), places_[reg].value);
    }
    if (!places_[reg].undefined) continue;
    Value* old = ir().CreateLoad(ir().getInt32Ty(), places_[reg].undefined);
    Value* undefined = ir().CreateAnd(old, ir().CreateNot(active_));
    if (masks_[reg]) undefined = ir().CreateOr(undefined, ir().CreateAnd(masks_[reg], active_));
    ir().CreateStore(undefined, places_[reg].undefined);
  }
}

Value* FunctionEmitter::condition(const Block& block) {
  const ptx::Instruction& i = function_.instructions[block.ender];
  use(load_undefined(block.condition), i);
  Value* value = load_register(block.condition);
  return block.condition_negated ? ir().CreateNot(value) : value;
}

void FunctionEmitter::end_block(std::uint32_t index) {
  const Block& block = blocks_[index];
  if (block.ending == Ending::traps) {
    lanes().call_no_return("assay_trap",
                           {warp_, active_, lanes().pointer(site(function_.instructions[block.ender]))});
    ir().CreateUnreachable();
    return;
  }
  if (block.ending == Ending::table) return emit_table(block);
  if (block.condition == ptx::no_index) {
    write_back(index);
    if (block.ending == Ending::returns || block.ending == Ending::exits) return leave(block, active_);
    return go(block.successors[0], active_);
  }
  Value* yes = ir().CreateAnd(active_, condition(block));
  Value* no = ir().CreateAnd(active_, ir().CreateNot(yes));
  write_back(index);
  if (block.ending == Ending::branches) return part(block.successors[0], yes, block.successors[1], no);
  // a guarded ret or exit
  auto& context = ir().getContext();
  BasicBlock* some = BasicBlock::Create(context, "", into_);
  BasicBlock* none = BasicBlock::Create(context, "", into_);
  ir().CreateCondBr(ir().CreateICmpNE(yes, ir().getInt32(0)), some, none);
  ir().SetInsertPoint(none);
  go(block.successors[0], active_);
  ir().SetInsertPoint(some);
  lanes().call("assay_flow_wait", ir().getVoidTy(), {flow_, ir().getInt32(block.successors[0]), no});
  leave(block, yes);
}

// All of `lanes_here` to one block: at once, where no other lanes stand before it in program order.
void FunctionEmitter::go(std::uint32_t target, Value* lanes_here) {
  auto& context = ir().getContext();
  BasicBlock* direct = BasicBlock::Create(context, "", into_);
  BasicBlock* parted = BasicBlock::Create(context, "", into_);
  Value* lowest = ir().CreateLoad(ir().getInt32Ty(), flow_field(offsetof(Flow, lowest)));
  ir().CreateCondBr(ir().CreateICmpUGT(lowest, ir().getInt32(target)), direct, parted,
                    llvm::MDBuilder(context).createLikelyBranchWeights());
  ir().SetInsertPoint(direct);
  ir().CreateStore(lanes_here, flow_field(offsetof(Flow, active)));
  ir().CreateBr(entries_[target]);
  ir().SetInsertPoint(parted);
  lanes().call("assay_flow_wait", ir().getVoidTy(), {flow_, ir().getInt32(target), lanes_here});
  ir().CreateBr(dispatch_);
}

void FunctionEmitter::part(std::uint32_t yes, Value* yes_lanes, std::uint32_t no, Value* no_lanes) {
  auto& context = ir().getContext();
  BasicBlock* all_yes = BasicBlock::Create(context, "", into_);
  BasicBlock* not_all = BasicBlock::Create(context, "", into_);
  BasicBlock* all_no = BasicBlock::Create(context, "", into_);
  BasicBlock* both = BasicBlock::Create(context, "", into_);
  ir().CreateCondBr(ir().CreateICmpEQ(no_lanes, ir().getInt32(0)), all_yes, not_all);
  ir().SetInsertPoint(all_yes);
  go(yes, yes_lanes);
  ir().SetInsertPoint(not_all);
  ir().CreateCondBr(ir().CreateICmpEQ(yes_lanes, ir().getInt32(0)), all_no, both);
  ir().SetInsertPoint(all_no);
  go(no, no_lanes);
  ir().SetInsertPoint(both);
  lanes().call("assay_flow_wait", ir().getVoidTy(), {flow_, ir().getInt32(yes), yes_lanes});
  lanes().call("assay_flow_wait", ir().getVoidTy(), {flow_, ir().getInt32(no), no_lanes});
  ir().CreateBr(dispatch_);
}

// `leaving` are done with this function (ret), or for good (exit, and ret of an entry).
void FunctionEmitter::leave(const Block& block, Value* leaving) {
  if (block.ending == Ending::exits || function_.entry) {
    Value* place = ir().CreateConstInBoundsGEP1_64(ir().getInt8Ty(), warp_, offsetof(Warp, alive));
    ir().CreateStore(ir().CreateAnd(alive(), ir().CreateNot(leaving)), place);
    lanes().call("assay_flow_exited", ir().getVoidTy(), {flow_});
  }
  ir().CreateBr(dispatch_);
}

void FunctionEmitter::emit_table(const Block& block) {
  const ptx::Instruction& i = function_.instructions[block.ender];
  instruction_ = &i;
  undefined_ = nullptr;
  Value* index = source(i, 0, Type::u32);
  use(undefined_, i);
  write_back(static_cast<std::uint32_t>(&block - blocks_.data()));
  Value* left = active_;
  for (std::uint32_t k = 0; k < block.successors.size(); ++k) {
    Value* here = ir().CreateAnd(left, lanes().to_mask(ir().CreateICmpEQ(index, lanes().splat(32, k))));
    lanes().call("assay_flow_wait", ir().getVoidTy(), {flow_, ir().getInt32(block.successors[k]), here});
    left = ir().CreateAnd(left, ir().CreateNot(here));
  }
  BasicBlock* outside = BasicBlock::Create(ir().getContext(), "", into_);
  ir().CreateCondBr(ir().CreateICmpEQ(left, ir().getInt32(0)), dispatch_, outside);
  ir().SetInsertPoint(outside); // an index past the table
  lanes().call_no_return("assay_trap", {warp_, left, lanes().pointer(site(i))});
  ir().CreateUnreachable();
}

void FunctionEmitter::emit_dispatch() {
  ir().SetInsertPoint(dispatch_);
  Value* next = lanes().call("assay_flow_next", ir().getInt32Ty(), {warp_, flow_});
  llvm::SwitchInst* choice = ir().CreateSwitch(next, return_, static_cast<unsigned>(blocks_.size()));
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) choice->addCase(ir().getInt32(b), entries_[b]);
}

void FunctionEmitter::emit_return() {
  ir().SetInsertPoint(return_);
  if (local_base_) lanes().call("assay_leave_local", ir().getVoidTy(), {warp_, local_base_});
  ir().CreateRetVoid();
}

} // namespace assay::cpu
