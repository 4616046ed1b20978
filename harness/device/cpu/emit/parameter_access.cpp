// Loads and stores of the parameters of calls, which lie in areas (areas.h).
#include "harness/device/cpu/emit/areas.h"
#include "harness/device/cpu/emit/memory_operands.h"

namespace assay::cpu {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

namespace {

bool area_reaches(FunctionEmitter& e, const Instruction& i, std::uint32_t variable, std::int64_t offset,
                  std::uint64_t bytes) {
  const std::uint64_t size = e.function().variables[variable].bytes;
  if (offset >= 0 && static_cast<std::uint64_t>(offset) <= size &&
      bytes <= size - static_cast<std::uint64_t>(offset))
    return true;
  e.fail(i, ErrorKind::user, "'{}' reaches beyond its parameter of {} bytes", i.opcode, size);
  return false;
}

} // namespace

std::optional<std::uint32_t> passed_variable(FunctionEmitter& e, const Operand& operand) {
  if (operand.variable == ptx::no_index || operand.reg != ptx::no_index) return std::nullopt;
  if (!e.area(operand.variable)) return std::nullopt;
  return operand.variable;
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

} // namespace assay::cpu
