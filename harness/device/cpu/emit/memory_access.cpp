// ld, st and fences.
#include "harness/device/cpu/emit/handlers.h"
#include "harness/device/cpu/emit/memory_buffers.h"
#include "harness/device/cpu/emit/memory_operands.h"

#include <llvm/IR/MDBuilder.h>

#include <string>

namespace assay::cpu {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

namespace {

bool goes_in_rows(Space space) { return space == Space::global || space == Space::generic; }

// Calls `name` + "_row" with lane 0's address where all 32 lanes execute and stand one behind another, which
// most do most of the time, else `name` with all addresses.
void call_by_row(FunctionEmitter& e, const std::string& name, const Access* access, Value* address,
                 unsigned lane_bytes) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  auto& context = ir.getContext();
  llvm::Function* function = ir.GetInsertBlock()->getParent();
  Value* first = ir.CreateExtractElement(address, ir.getInt32(0));
  Value* steps = ir.CreateMul(b.resize(b.lane_numbers(), 64, false), b.splat(64, lane_bytes));
  Value* in_row = ir.CreateICmpEQ(address, ir.CreateAdd(b.splat_value(first), steps));
  Value* all = ir.CreateICmpEQ(ir.CreateAnd(b.to_mask(in_row), e.executing()), ir.getInt32(~0u));
  auto* row = llvm::BasicBlock::Create(context, "row", function);
  auto* scattered = llvm::BasicBlock::Create(context, "scattered", function);
  auto* next = llvm::BasicBlock::Create(context, "", function);
  ir.CreateCondBr(all, row, scattered, llvm::MDBuilder(context).createLikelyBranchWeights());
  ir.SetInsertPoint(row);
  b.call(name + "_row", ir.getVoidTy(),
         {e.warp(), b.pointer(access), first, e.value_buffer(), e.undefined_buffer()});
  ir.CreateBr(next);
  ir.SetInsertPoint(scattered);
  ir.CreateAlignedStore(address, b.scratch(0), llvm::Align(64));
  b.call(name, ir.getVoidTy(),
         {e.warp(), e.executing(), b.pointer(access), b.scratch(0), e.value_buffer(), e.undefined_buffer()});
  ir.CreateBr(next);
  ir.SetInsertPoint(next);
}

// Calls `name` for the access, or what is cheaper.
void transfer(FunctionEmitter& e, const Instruction& i, const std::string& name, const Operand& operand,
              unsigned bytes, unsigned vector) {
  auto& b = e.lanes();
  Space space = space_of(i);
  if (space == Space::shared && operand.kind == Operand::Kind::address && operand.reg != ptx::no_index) {
    const Access* access = describe(e, i, space, bytes, vector);
    Value* shape = e.shape(i, operand.reg, bytes * vector);
    Value* offset = b.ir.getInt64(static_cast<std::uint64_t>(operand.offset));
    b.call(name + "_shaped", b.ir.getVoidTy(),
           {e.warp(), b.pointer(access), shape, offset, e.value_buffer(), e.undefined_buffer()});
    return;
  }
  Value* address = e.address(i, operand, space);
  const Access* access = describe(e, i, space, bytes, vector);
  if (vector == 1 && goes_in_rows(space)) return call_by_row(e, name, access, address, bytes);
  b.ir.CreateAlignedStore(address, b.scratch(0), llvm::Align(64));
  b.call(name, b.ir.getVoidTy(),
         {e.warp(), e.executing(), b.pointer(access), b.scratch(0), e.value_buffer(), e.undefined_buffer()});
}

void emit_ld(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const Type type = i.types.back();
  if (space_of(i) == Space::param)
    if (const auto variable = passed_variable(e, i.operands[1])) return load_area(e, i, *variable);
  const unsigned bytes = bits_of(type) / 8, vector = vector_of(i);
  const auto parts = parts_of(i.operands[0]);
  if (parts.size() != vector)
    return e.fail(i, ErrorKind::user, "'{}' loads {} elements into {} registers", i.opcode, vector,
                  parts.size());
  transfer(e, i, "assay_load", i.operands[1], bytes, vector);
  std::vector<Value*> values;
  for (std::size_t k = 0; k < vector; ++k)
    values.push_back(b.ir.CreateAlignedLoad(b.int_lanes(8 * bytes), element(e, e.value_buffer(), k, bytes),
                                            llvm::Align(32)));
  for (std::size_t k = 0; k < vector; ++k) {
    e.set_taint(b.ir.CreateLoad(b.ir.getInt32Ty(), undefined_place(e, k)));
    check_kind(e, i, parts[k], type);
    e.write(parts[k], is_signed(type) ? type : raw(type), values[k]);
  }
}

void emit_st(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const Type type = i.types.back();
  if (space_of(i) == Space::param) {
    if (const auto variable = passed_variable(e, i.operands[0])) return store_area(e, i, *variable);
    return e.fail(i, ErrorKind::user, "a kernel's parameters cannot be stored to");
  }
  const unsigned bytes = bits_of(type) / 8, vector = vector_of(i);
  const auto parts = parts_of(i.operands[1]);
  if (parts.size() != vector)
    return e.fail(i, ErrorKind::user, "'{}' stores {} elements from {} registers", i.opcode, vector,
                  parts.size());
  for (std::size_t k = 0; k < vector; ++k) {
    e.set_taint(nullptr);
    check_kind(e, i, parts[k], type);
    b.ir.CreateAlignedStore(e.read(parts[k], raw(type)), element(e, e.value_buffer(), k, bytes),
                            llvm::Align(32));
    Value* undefined = e.taken_taint() ? e.taken_taint() : b.ir.getInt32(0);
    b.ir.CreateStore(undefined, undefined_place(e, k));
  }
  transfer(e, i, "assay_store", i.operands[0], bytes, vector);
}

void emit_fence(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  std::uint32_t scope = 0;
  if (i.has("gpu") || i.has("gl") || i.has("cluster")) scope = 1;
  if (i.has("sys")) scope = 2;
  b.call("assay_fence", b.ir.getVoidTy(), {e.warp(), e.executing(), b.ir.getInt32(scope)});
}

} // namespace

Value* load_lanes(FunctionEmitter& e, const Instruction& i, Space space, Value* addresses, unsigned bits) {
  auto& b = e.lanes();
  b.ir.CreateAlignedStore(addresses, b.scratch(0), llvm::Align(64));
  b.call("assay_load", b.ir.getVoidTy(),
         {e.warp(), e.executing(), b.pointer(describe(e, i, space, bits / 8, 1)), b.scratch(0),
          e.value_buffer(), e.undefined_buffer()});
  e.taint(b.ir.CreateLoad(b.ir.getInt32Ty(), e.undefined_buffer()));
  return b.ir.CreateAlignedLoad(b.int_lanes(bits), e.value_buffer(), llvm::Align(64));
}

void store_lanes(FunctionEmitter& e, const Instruction& i, Space space, Value* addresses, Value* value) {
  auto& b = e.lanes();
  b.ir.CreateAlignedStore(addresses, b.scratch(0), llvm::Align(64));
  b.ir.CreateAlignedStore(value, e.value_buffer(), llvm::Align(64));
  b.ir.CreateStore(e.taken_taint() ? e.taken_taint() : b.ir.getInt32(0), e.undefined_buffer());
  const unsigned bytes = value->getType()->getScalarSizeInBits() / 8;
  b.call("assay_store", b.ir.getVoidTy(),
         {e.warp(), e.executing(), b.pointer(describe(e, i, space, bytes, 1)), b.scratch(0), e.value_buffer(),
          e.undefined_buffer()});
}

Handler memory_handler(std::string_view opcode) {
  if (opcode == "ld" || opcode == "ldu") return emit_ld;
  if (opcode == "st") return emit_st;
  if (opcode == "atom" || opcode == "red") return emit_atomic;
  if (opcode == "cp") return emit_cp_async;
  if (opcode == "membar" || opcode == "fence") return emit_fence;
  return nullptr;
}

} // namespace assay::cpu
