// ldmatrix, stmatrix and mma.sync. The whole warp takes part, which the block that each begins has made sure
// of.
#include "harness/device/cpu/emit/function_emitter.h"
#include "harness/device/cpu/emit/handlers.h"
#include "harness/device/cpu/emit/memory_buffers.h"

#include <array>

namespace assay::cpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

// Lane k of the result is lane lanes[k] of the addresses, plus offsets[k].
Value* rearranged(FunctionEmitter& e, Value* addresses, const std::array<int, 32>& lanes,
                  const std::array<std::uint64_t, 32>& offsets) {
  Value* rows = e.ir().CreateShuffleVector(addresses, lanes);
  Value* add = llvm::ConstantDataVector::get(e.ir().getContext(), llvm::ArrayRef<std::uint64_t>(offsets));
  return e.ir().CreateAdd(rows, add);
}

// Where each lane's part of matrix `matrix` lies: lane l holds elements 2 (l % 4) and the next of row l / 4,
// or with .trans of column l / 4. Lanes 8 matrix to 8 matrix + 7 give the addresses of its rows.
Value* whole_pair(FunctionEmitter& e, Value* addresses, int matrix) {
  std::array<int, 32> lanes{};
  std::array<std::uint64_t, 32> offsets{};
  for (int lane = 0; lane < 32; ++lane) {
    lanes[static_cast<std::size_t>(lane)] = 8 * matrix + lane / 4;
    offsets[static_cast<std::size_t>(lane)] = static_cast<std::uint64_t>(4 * (lane % 4));
  }
  return rearranged(e, addresses, lanes, offsets);
}
Value* transposed_half(FunctionEmitter& e, Value* addresses, int matrix, int half) {
  std::array<int, 32> lanes{};
  std::array<std::uint64_t, 32> offsets{};
  for (int lane = 0; lane < 32; ++lane) {
    lanes[static_cast<std::size_t>(lane)] = 8 * matrix + 2 * (lane % 4) + half;
    offsets[static_cast<std::size_t>(lane)] = 2 * static_cast<std::uint64_t>(lane / 4);
  }
  return rearranged(e, addresses, lanes, offsets);
}

std::span<const Operand> parts_of(const Operand& operand) {
  if (operand.kind == Operand::Kind::vector) return operand.parts;
  return {&operand, 1};
}

bool has_matrices(FunctionEmitter& e, const Instruction& i, std::size_t count) {
  const std::size_t wanted = i.has("x4") ? 4 : i.has("x2") ? 2 : 1;
  if (count == wanted) return true;
  e.fail(i, ErrorKind::user, "'{}' moves {} matrices, not {}", i.opcode, wanted, count);
  return false;
}

Space matrix_space(const Instruction& i) {
  return i.has("shared") || i.has("shared::cta") ? Space::shared : Space::generic;
}

void emit_ldmatrix(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const auto parts = parts_of(i.operands[0]);
  if (!has_matrices(e, i, parts.size())) return;
  Space space = matrix_space(i);
  Value* addresses = e.address(i, i.operands[1], space);
  for (std::size_t m = 0; m < parts.size(); ++m) {
    const int matrix = static_cast<int>(m);
    e.set_taint(nullptr);
    Value* result = nullptr;
    if (!i.has("trans")) {
      result = load_lanes(e, i, space, whole_pair(e, addresses, matrix), 32);
    } else {
      Value* low = load_lanes(e, i, space, transposed_half(e, addresses, matrix, 0), 16);
      Value* high = load_lanes(e, i, space, transposed_half(e, addresses, matrix, 1), 16);
      result =
          b.ir.CreateOr(b.resize(low, 32, false), b.ir.CreateShl(b.resize(high, 32, false), b.splat(32, 16)));
    }
    e.write(parts[m], Type::b32, result);
  }
}

void emit_stmatrix(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const auto parts = parts_of(i.operands[1]);
  if (!has_matrices(e, i, parts.size())) return;
  Space space = matrix_space(i);
  Value* addresses = e.address(i, i.operands[0], space);
  for (std::size_t m = 0; m < parts.size(); ++m) {
    const int matrix = static_cast<int>(m);
    e.set_taint(nullptr);
    Value* value = e.read(parts[m], Type::b32);
    if (!i.has("trans")) {
      store_lanes(e, i, space, whole_pair(e, addresses, matrix), value);
      continue;
    }
    store_lanes(e, i, space, transposed_half(e, addresses, matrix, 0), b.resize(value, 16, false));
    Value* high = b.resize(b.ir.CreateLShr(value, b.splat(32, 16)), 16, false);
    store_lanes(e, i, space, transposed_half(e, addresses, matrix, 1), high);
  }
}

// mma.sync.aligned.m16n8k{8,16}.row.col.f32.{f16,bf16}.*.f32
void emit_mma(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  const bool wide = i.has("m16n8k16");
  const std::array<std::size_t, 4> counts{4, wide ? 4u : 2u, wide ? 2u : 1u, 4};
  for (std::size_t k = 0; k < 4; ++k)
    if (parts_of(i.operands[k]).size() != counts[k])
      return e.fail(i, ErrorKind::user, "operand {} of '{}' needs {} registers", k + 1, i.opcode, counts[k]);
  std::array<Value*, 4> places{};
  for (std::size_t k = 0; k < 4; ++k) places[k] = b.slot(b.int_lanes(32), 4);
  for (std::size_t k = 1; k < 4; ++k)
    for (std::size_t part = 0; part < counts[k]; ++part)
      ir.CreateAlignedStore(e.read(parts_of(i.operands[k])[part], Type::b32),
                            ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), places[k], part * 128),
                            llvm::Align(64));
  if (Value* taint =
          e.taken_taint()) { // an undefined factor reaches a row or column: here, all of the result
    Value* any = ir.CreateICmpNE(ir.CreateAnd(taint, e.executing()), ir.getInt32(0));
    e.set_taint(ir.CreateSExt(any, ir.getInt32Ty()));
  }
  const bool bf16 = i.types[1] == Type::bf16;
  b.call(bf16 ? "assay_mma_bf16" : "assay_mma_f16", ir.getVoidTy(),
         {places[1], places[2], places[3], places[0], ir.getInt32(wide ? 16 : 8)});
  for (std::size_t part = 0; part < 4; ++part) {
    Value* place = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), places[0], part * 128);
    e.write(parts_of(i.operands[0])[part], Type::b32,
            ir.CreateAlignedLoad(b.int_lanes(32), place, llvm::Align(64)));
  }
}

} // namespace

Handler matrix_handler(std::string_view opcode) {
  if (opcode == "ldmatrix") return emit_ldmatrix;
  if (opcode == "stmatrix") return emit_stmatrix;
  if (opcode == "mma") return emit_mma;
  return nullptr;
}

} // namespace assay::cpu
