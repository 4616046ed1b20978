// mov (also packing and unpacking vectors), cvta, isspacep, mapa-less address arithmetic, and instructions
// without effect.
#include "harness/device/cpu/emit/function_emitter.h"
#include "harness/device/cpu/emit/handlers.h"
#include "harness/device/cpu/emit/partly_undefined.h"

#include <vector>

namespace assay::cpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

Type unsigned_type(unsigned bits) {
  switch (bits) {
  case 8:
    return Type::b8;
  case 16:
    return Type::b16;
  case 32:
    return Type::b32;
  case 64:
    return Type::b64;
  default:
    return Type::b128;
  }
}

void emit_mov(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const Type type = i.types.back();
  if (i.operands[1].kind == Operand::Kind::vector) { // pack: the first part is the low one
    const auto& parts = i.operands[1].parts;
    if (parts.empty() || bits_of(type) % parts.size() != 0)
      return e.fail(i, ErrorKind::user, "cannot pack {} parts into .{}", parts.size(), name_of(type));
    const unsigned bits = bits_of(type), each = bits / static_cast<unsigned>(parts.size());
    Value* whole = b.splat(bits, 0);
    std::vector<Value*> undefined;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      e.set_taint(nullptr);
      Value* part = b.resize(e.read(parts[k], unsigned_type(each)), bits, false);
      undefined.push_back(e.taken_taint());
      whole = b.ir.CreateOr(whole, b.ir.CreateShl(part, b.splat(bits, each * k)));
    }
    e.set_taint(packed_undefined(e, whole, bits, undefined));
    return e.write(i, 0, unsigned_type(bits), whole);
  }
  if (i.operands[0].kind == Operand::Kind::vector) {
    const auto& parts = i.operands[0].parts;
    if (parts.empty() || bits_of(type) % parts.size() != 0)
      return e.fail(i, ErrorKind::user, "cannot unpack .{} into {} parts", name_of(type), parts.size());
    const unsigned bits = bits_of(type), each = bits / static_cast<unsigned>(parts.size());
    Value* whole = e.source(i, 1, unsigned_type(bits));
    Value* undefined = e.taken_taint();
    for (std::size_t k = 0; k < parts.size(); ++k) {
      e.set_taint(part_undefined(e, whole, bits, each, k, undefined));
      Value* part = b.ir.CreateLShr(whole, b.splat(bits, each * k));
      e.write(parts[k], unsigned_type(each), b.resize(part, each, false));
    }
    return;
  }
  e.write(i, 0, type, e.source(i, 1, type));
}

std::uint64_t window_of(const Instruction& i) {
  if (i.has("shared") || i.has("shared::cta")) return generic_address(shared_slot, 0);
  if (i.has("local")) return generic_address(local_slot, 0);
  if (i.has("param") || i.has("param::entry")) return generic_address(param_slot, 0);
  return 0; // global and const addresses are generic ones
}

void emit_cvta(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const Type type = i.types.back();
  Value* value = b.resize(e.source(i, 1, type), 64, false);
  Value* window = b.splat(64, window_of(i));
  value = i.has("to") ? b.ir.CreateSub(value, window) : b.ir.CreateAdd(value, window);
  e.write(i, 0, type, b.resize(value, bits_of(type), false));
}

void emit_isspacep(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  Value* slot = b.ir.CreateLShr(e.source(i, 1, Type::b64), b.splat(64, slot_shift));
  std::uint64_t wanted = 0;
  if (i.has("shared") || i.has("shared::cta")) wanted = shared_slot;
  if (i.has("local")) wanted = local_slot;
  if (i.has("param")) wanted = param_slot;
  Value* holds = wanted != 0 ? b.ir.CreateICmpEQ(slot, b.splat(64, wanted))
                             : b.ir.CreateICmpUGE(slot, b.splat(64, first_buffer_slot));
  e.write(i, 0, Type::pred, b.to_mask(holds));
}

void emit_nothing(FunctionEmitter&, const Instruction&) {}

// A logical operation or move of predicates.
void emit_pred(FunctionEmitter& e, const Instruction& i) {
  auto& ir = e.ir();
  Value* x = e.source(i, 1, Type::pred);
  if (i.opcode == "mov") return e.write(i, 0, Type::pred, x);
  if (i.opcode == "not") return e.write(i, 0, Type::pred, ir.CreateNot(x));
  Value* y = e.source(i, 2, Type::pred);
  Value* result = i.opcode == "and"  ? ir.CreateAnd(x, y)
                  : i.opcode == "or" ? ir.CreateOr(x, y)
                                     : ir.CreateXor(x, y);
  e.write(i, 0, Type::pred, result);
}

} // namespace

Handler move_handler(std::string_view opcode) {
  if (opcode == "mov") return emit_mov;
  if (opcode == "cvta") return emit_cvta;
  if (opcode == "isspacep") return emit_isspacep;
  if (opcode == "prefetch" || opcode == "prefetchu" || opcode == "nanosleep" || opcode == "pmevent" ||
      opcode == "discard" || opcode == "applypriority" || opcode == "griddepcontrol" ||
      opcode == "setmaxnreg")
    return emit_nothing;
  return nullptr;
}

Handler handler_of(const Instruction& i) {
  const std::string_view opcode = i.opcode;
  const bool predicates = !i.types.empty() && i.types.back() == Type::pred;
  if (predicates &&
      (opcode == "mov" || opcode == "not" || opcode == "and" || opcode == "or" || opcode == "xor"))
    return emit_pred;
  if (const Handler handler = packed_handler(opcode, i)) return handler;
  if (const Handler handler = mbarrier_handler(opcode)) return handler;
  if (const Handler handler = float_handler(opcode, i)) return handler;
  if (const Handler handler = half_handler(opcode, i)) return handler;
  if (const Handler handler = integer_handler(opcode, i)) return handler;
  if (const Handler handler = move_handler(opcode)) return handler;
  if (const Handler handler = memory_handler(opcode)) return handler;
  if (const Handler handler = compare_handler(opcode)) return handler;
  if (const Handler handler = logic_handler(opcode)) return handler;
  if (const Handler handler = convert_handler(opcode)) return handler;
  if (const Handler handler = warp_handler(opcode)) return handler;
  if (const Handler handler = matrix_handler(opcode)) return handler;
  return call_handler(opcode);
}

} // namespace assay::cpu
