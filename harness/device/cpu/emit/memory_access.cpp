// ld, st, atom, red, cp.async, fences.
#include "harness/device/cpu/emit/areas.h"
#include "harness/device/cpu/emit/function_emitter.h"
#include "harness/device/cpu/emit/handlers.h"
#include "harness/device/cpu/emit/memory_buffers.h"

#include <llvm/ADT/APInt.h>
#include <llvm/IR/MDBuilder.h>

#include <array>

namespace assay::cpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

Space space_of(const Instruction& i) {
  if (i.has("global")) return Space::global;
  if (i.has("shared") || i.has("shared::cta")) return Space::shared;
  if (i.has("local")) return Space::local;
  if (i.has("const")) return Space::constant;
  if (i.has("param") || i.has("param::entry") || i.has("param::func")) return Space::param;
  return Space::generic;
}

std::uint8_t ordering_of(const Instruction& i) {
  if (i.has("volatile")) return volatile_access;
  if (i.has("relaxed")) return relaxed;
  if (i.has("acquire")) return acquire;
  if (i.has("release")) return release;
  if (i.has("acq_rel")) return acquire_release;
  return weak;
}

std::span<const Operand> parts_of(const Operand& operand) {
  if (operand.kind == Operand::Kind::vector) return operand.parts;
  return {&operand, 1};
}

std::uint8_t vector_of(const Instruction& i) {
  if (i.has("v2")) return 2;
  if (i.has("v4")) return 4;
  if (i.has("v8")) return 8;
  return 1;
}

// The lanes' bits as they lie in memory.
Type raw(Type type) {
  switch (bits_of(type)) {
  case 8:
    return Type::b8;
  case 16:
    return Type::b16;
  case 32:
    return Type::b32;
  case 128:
    return Type::b128;
  default:
    return Type::b64;
  }
}

// An element's register must go with the type, though its bits travel as they are.
void check_kind(FunctionEmitter& e, const Instruction& i, const Operand& part, Type type) {
  if (part.kind != Operand::Kind::reg) return;
  const Type declared = e.function().registers[part.reg].type;
  if (!same_kind(declared, type))
    e.fail(i, ErrorKind::user, "a register of type .{} cannot be an operand of type .{} of '{}'",
           name_of(declared), name_of(type), i.opcode);
}

const Access* describe(FunctionEmitter& e, const Instruction& i, Space space, unsigned bytes,
                       unsigned vector) {
  return &e.scope().data.accesses.emplace_back(Access{*e.site(i), space, static_cast<std::uint8_t>(bytes),
                                                      static_cast<std::uint8_t>(vector), ordering_of(i)});
}

Value* element(FunctionEmitter& e, Value* buffer, std::size_t index, unsigned bytes) {
  return e.ir().CreateConstInBoundsGEP1_64(e.ir().getInt8Ty(), buffer, index * warp_lanes * bytes);
}

Value* undefined_place(FunctionEmitter& e, std::size_t index) {
  return e.ir().CreateConstInBoundsGEP1_64(e.ir().getInt32Ty(), e.undefined_buffer(), index);
}

// The variable behind the address, where it is one that calls pass: no kernel parameter.
std::optional<std::uint32_t> passed_variable(FunctionEmitter& e, const Operand& operand) {
  if (operand.variable == ptx::no_index || operand.reg != ptx::no_index) return std::nullopt;
  if (!e.area(operand.variable)) return std::nullopt;
  return operand.variable;
}

bool area_reaches(FunctionEmitter& e, const Instruction& i, std::uint32_t variable, std::int64_t offset,
                  std::uint64_t bytes) {
  const std::uint64_t size = e.function().variables[variable].bytes;
  if (offset >= 0 && static_cast<std::uint64_t>(offset) <= size &&
      bytes <= size - static_cast<std::uint64_t>(offset))
    return true;
  e.fail(i, ErrorKind::user, "'{}' reaches beyond its parameter of {} bytes", i.opcode, size);
  return false;
}

void load_area(FunctionEmitter& e, const Instruction& i, std::uint32_t variable) {
  auto& b = e.lanes();
  const Type type = i.types.back();
  const unsigned bytes = bits_of(type) / 8;
  const auto parts = parts_of(i.operands[0]);
  if (!area_reaches(e, i, variable, i.operands[1].offset, parts.size() * bytes)) return;
  const auto size = static_cast<std::uint32_t>(e.function().variables[variable].bytes);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto at = static_cast<std::uint32_t>(i.operands[1].offset) + static_cast<std::uint32_t>(k) * bytes;
    Value* undefined = b.call("assay_area_load", b.ir.getInt32Ty(),
                              {e.area(variable), b.ir.getInt32(size), b.ir.getInt32(at), b.ir.getInt32(bytes),
                               e.executing(), e.value_buffer()});
    Value* value = b.ir.CreateAlignedLoad(b.int_lanes(8 * bytes), e.value_buffer(), llvm::Align(64));
    e.set_taint(undefined);
    check_kind(e, i, parts[k], type);
    e.write(parts[k], is_signed(type) ? type : raw(type), value);
  }
}

void store_area(FunctionEmitter& e, const Instruction& i, std::uint32_t variable) {
  auto& b = e.lanes();
  const Type type = i.types.back();
  const unsigned bytes = bits_of(type) / 8;
  const auto parts = parts_of(i.operands[1]);
  if (!area_reaches(e, i, variable, i.operands[0].offset, parts.size() * bytes)) return;
  const auto size = static_cast<std::uint32_t>(e.function().variables[variable].bytes);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto at = static_cast<std::uint32_t>(i.operands[0].offset) + static_cast<std::uint32_t>(k) * bytes;
    e.set_taint(nullptr);
    check_kind(e, i, parts[k], type);
    b.ir.CreateAlignedStore(e.read(parts[k], raw(type)), e.value_buffer(), llvm::Align(64));
    Value* undefined = e.taken_taint() ? e.taken_taint() : b.ir.getInt32(0);
    b.call("assay_area_store", b.ir.getVoidTy(),
           {e.area(variable), b.ir.getInt32(size), b.ir.getInt32(at), b.ir.getInt32(bytes), e.executing(),
            e.value_buffer(), undefined});
  }
}

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

void emit_ld(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const Type type = i.types.back();
  Space space = space_of(i);
  if (space == Space::param)
    if (const auto variable = passed_variable(e, i.operands[1])) return load_area(e, i, *variable);
  const unsigned bytes = bits_of(type) / 8, vector = vector_of(i);
  const auto parts = parts_of(i.operands[0]);
  if (parts.size() != vector)
    return e.fail(i, ErrorKind::user, "'{}' loads {} elements into {} registers", i.opcode, vector,
                  parts.size());
  Value* address = e.address(i, i.operands[1], space);
  const Access* access = describe(e, i, space, bytes, vector);
  if (vector == 1 && goes_in_rows(space)) {
    call_by_row(e, "assay_load", access, address, bytes);
  } else {
    b.ir.CreateAlignedStore(address, b.scratch(0), llvm::Align(64));
    b.call(
        "assay_load", b.ir.getVoidTy(),
        {e.warp(), e.executing(), b.pointer(access), b.scratch(0), e.value_buffer(), e.undefined_buffer()});
  }
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
  Space space = space_of(i);
  if (space == Space::param) {
    if (const auto variable = passed_variable(e, i.operands[0])) return store_area(e, i, *variable);
    return e.fail(i, ErrorKind::user, "a kernel's parameters cannot be stored to");
  }
  const unsigned bytes = bits_of(type) / 8, vector = vector_of(i);
  const auto parts = parts_of(i.operands[1]);
  if (parts.size() != vector)
    return e.fail(i, ErrorKind::user, "'{}' stores {} elements from {} registers", i.opcode, vector,
                  parts.size());
  Value* address = e.address(i, i.operands[0], space);
  for (std::size_t k = 0; k < vector; ++k) {
    e.set_taint(nullptr);
    check_kind(e, i, parts[k], type);
    b.ir.CreateAlignedStore(e.read(parts[k], raw(type)), element(e, e.value_buffer(), k, bytes),
                            llvm::Align(32));
    Value* undefined = e.taken_taint() ? e.taken_taint() : b.ir.getInt32(0);
    b.ir.CreateStore(undefined, undefined_place(e, k));
  }
  const Access* access = describe(e, i, space, bytes, vector);
  if (vector == 1 && goes_in_rows(space)) return call_by_row(e, "assay_store", access, address, bytes);
  b.ir.CreateAlignedStore(address, b.scratch(0), llvm::Align(64));
  b.call("assay_store", b.ir.getVoidTy(),
         {e.warp(), e.executing(), b.pointer(access), b.scratch(0), e.value_buffer(), e.undefined_buffer()});
}

std::optional<AtomicOp> atomic_op_of(const Instruction& i) {
  static constexpr std::pair<std::string_view, AtomicOp> names[] = {
      {"add", AtomicOp::add}, {"exch", AtomicOp::exch}, {"cas", AtomicOp::cas}, {"and", AtomicOp::and_},
      {"or", AtomicOp::or_},  {"xor", AtomicOp::xor_},  {"min", AtomicOp::min}, {"max", AtomicOp::max},
      {"inc", AtomicOp::inc}, {"dec", AtomicOp::dec}};
  for (const auto& [name, op] : names)
    if (i.has(name)) return op;
  return std::nullopt;
}

std::optional<ValueType> value_type_of(Type type) {
  switch (type) {
  case Type::b16:
    return ValueType::b16;
  case Type::b32:
    return ValueType::b32;
  case Type::b64:
    return ValueType::b64;
  case Type::b128:
    return ValueType::b128;
  case Type::u32:
    return ValueType::u32;
  case Type::s32:
    return ValueType::s32;
  case Type::u64:
    return ValueType::u64;
  case Type::s64:
    return ValueType::s64;
  case Type::f16:
    return ValueType::f16;
  case Type::f16x2:
    return ValueType::f16x2;
  case Type::bf16:
    return ValueType::bf16;
  case Type::bf16x2:
    return ValueType::bf16x2;
  case Type::f32:
    return ValueType::f32;
  case Type::f64:
    return ValueType::f64;
  default:
    return std::nullopt;
  }
}

// Operand k's elements, as vectors one behind another in new memory, with their undefined lanes.
Value* atomic_operand(FunctionEmitter& e, const Instruction& i, std::size_t k, Type type) {
  auto& b = e.lanes();
  const unsigned bytes = bits_of(type) / 8;
  const auto parts = parts_of(i.operands[k]);
  Value* memory = b.slot(b.ir.getInt8Ty(), parts.size() * warp_lanes * bytes);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (parts.size() > 1) e.set_taint(nullptr); // a scalar's joins what the instruction's other operands have
    check_kind(e, i, parts[part], type);
    b.ir.CreateAlignedStore(e.read(parts[part], raw(type)), element(e, memory, part, bytes), llvm::Align(32));
    Value* undefined = e.taken_taint() ? e.taken_taint() : b.ir.getInt32(0);
    b.ir.CreateStore(undefined, undefined_place(e, part));
  }
  return memory;
}

// atom d, [a], b{, c} and red [a], b.
void emit_atomic(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const bool returns = i.opcode == "atom";
  const std::size_t first = returns ? 1 : 0;
  const Type type = i.types.back();
  const auto op = atomic_op_of(i);
  const auto value_type = value_type_of(type);
  if (!op || !value_type)
    return e.fail(i, ErrorKind::environment, "the CPU device does not support this atomic");
  const std::uint8_t vector = vector_of(i);
  for (const std::size_t k : {std::size_t{0}, first + 1})
    if ((k != 0 || returns) && parts_of(i.operands[k]).size() != vector)
      return e.fail(i, ErrorKind::user, "operand {} of '{}' needs {} element{}", k + 1, i.opcode, vector,
                    vector == 1 ? "" : "s");
  Space space = space_of(i);
  const unsigned bytes = bits_of(type) / 8;
  Value* address = e.address(i, i.operands[first], space);
  b.ir.CreateAlignedStore(address, b.scratch(0), llvm::Align(64));
  const AtomicAccess access{{*e.site(i), space, static_cast<std::uint8_t>(bytes), vector,
                             ordering_of(i) == weak ? static_cast<std::uint8_t>(relaxed) : ordering_of(i)},
                            *op,
                            *value_type,
                            i.has("noftz")};
  e.scope().data.atomics.push_back(access);
  Value* null = llvm::ConstantPointerNull::get(b.ir.getPtrTy());
  Value* third = *op == AtomicOp::cas ? atomic_operand(e, i, first + 2, type) : null;
  Value* operand = atomic_operand(e, i, first + 1, type);
  b.call("assay_atomic", b.ir.getVoidTy(),
         {e.warp(), e.executing(), b.pointer(&e.scope().data.atomics.back()), b.scratch(0), operand, third,
          returns ? e.value_buffer() : null, e.undefined_buffer()});
  if (!returns) return;
  const auto parts = parts_of(i.operands[0]);
  std::vector<Value*> old;
  for (std::size_t k = 0; k < parts.size(); ++k)
    old.push_back(b.ir.CreateAlignedLoad(b.int_lanes(8 * bytes), element(e, e.value_buffer(), k, bytes),
                                         llvm::Align(32)));
  for (std::size_t k = 0; k < parts.size(); ++k) {
    e.set_taint(b.ir.CreateLoad(b.ir.getInt32Ty(), undefined_place(e, k)));
    check_kind(e, i, parts[k], type);
    e.write(parts[k], raw(type), old[k]);
  }
}

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
