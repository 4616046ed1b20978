#include "harness/device/cpu/emit/memory_operands.h"

namespace assay::cpu {

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

bool of_block(const Instruction& i) { return i.has("cta") || i.has("cluster"); }

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
                                                      static_cast<std::uint8_t>(vector), ordering_of(i),
                                                      of_block(i)});
}

Value* element(FunctionEmitter& e, Value* buffer, std::size_t index, unsigned bytes) {
  return e.ir().CreateConstInBoundsGEP1_64(e.ir().getInt8Ty(), buffer, index * warp_lanes * bytes);
}

Value* undefined_place(FunctionEmitter& e, std::size_t index) {
  return e.ir().CreateConstInBoundsGEP1_64(e.ir().getInt32Ty(), e.undefined_buffer(), index);
}

} // namespace assay::cpu
