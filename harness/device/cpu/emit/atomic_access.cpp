// atom and red.
#include "harness/device/cpu/emit/handlers.h"
#include "harness/device/cpu/emit/memory_operands.h"

#include <utility>

namespace assay::cpu {

using llvm::Value;
using ptx::Instruction;
using ptx::Type;

namespace {

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

} // namespace

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
                             ordering_of(i) == weak ? static_cast<std::uint8_t>(relaxed) : ordering_of(i),
                             of_block(i)},
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

} // namespace assay::cpu
