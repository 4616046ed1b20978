// ldmatrix, stmatrix and movmatrix: 8x8 matrices of 16 bits. The whole warp takes part, which the block that
// each begins has made sure of.
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

// movmatrix.sync.aligned.m8n8.trans.b16 d, a: lane l of an 8x8 matrix of 16 bits holds elements 2 (l % 4) and
// the next of row l / 4; the result is the transpose, held likewise.
void emit_movmatrix(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  Value* value = e.source(i, 1, Type::b32);
  Value* undefined = e.taken_taint();
  e.set_taint(nullptr);
  Value* halves[2] = {};
  for (int half = 0; half < 2; ++half) { // element [2 (l % 4) + half][l / 4]
    std::array<int, 32> from{};
    std::array<std::uint32_t, 32> shift{};
    for (int lane = 0; lane < 32; ++lane) {
      from[static_cast<std::size_t>(lane)] = 4 * (2 * (lane % 4) + half) + lane / 8;
      shift[static_cast<std::size_t>(lane)] = lane / 4 % 2 == 0 ? 0 : 16;
    }
    Value* amounts = llvm::ConstantDataVector::get(b.ir.getContext(), llvm::ArrayRef<std::uint32_t>(shift));
    halves[half] = b.ir.CreateLShr(b.ir.CreateShuffleVector(value, from), amounts);
    if (undefined) e.taint(b.to_mask(b.ir.CreateShuffleVector(b.to_lanes(undefined), from)));
  }
  Value* low = b.ir.CreateAnd(halves[0], b.splat(32, 0xffff));
  e.write(i, 0, Type::b32, b.ir.CreateOr(low, b.ir.CreateShl(halves[1], b.splat(32, 16))));
}

} // namespace

Handler matrix_handler(std::string_view opcode) {
  if (opcode == "ldmatrix") return emit_ldmatrix;
  if (opcode == "stmatrix") return emit_stmatrix;
  if (opcode == "movmatrix") return emit_movmatrix;
  return tensor_handler(opcode);
}

} // namespace assay::cpu
