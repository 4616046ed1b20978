// f16, bf16 and their packed pairs. Sums, products, quotients and roots are computed in f32, whose 24 bits
// make the second rounding harmless (24 >= 2 * 11 + 2); the fused multiply-add has its own routine.
#include "harness/device/cpu/emit/floats.h"
#include "harness/device/cpu/emit/handlers.h"
#include "harness/device/cpu/emit/partly_undefined.h"

#include <array>
#include <functional>
#include <string>

namespace assay::cpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Type;

bool is_bf16(const Instruction& i) { return i.types.back() == Type::bf16 || i.types.back() == Type::bf16x2; }
bool is_packed(const Instruction& i) {
  return i.types.back() == Type::f16x2 || i.types.back() == Type::bf16x2;
}

// One half's operation on i16 lanes.
using HalfOperation = std::function<Value*(FunctionEmitter&, std::span<Value* const>)>;

Value* finish(FunctionEmitter& e, const Instruction& i, Value* bits) {
  auto& b = e.lanes();
  if (i.has("ftz")) bits = flush_half(e, bits, is_bf16(i));
  Value* magnitude = b.ir.CreateAnd(bits, b.splat(16, 0x7fff));
  Value* nan = b.ir.CreateICmpUGT(magnitude, b.splat(16, is_bf16(i) ? 0x7f80 : 0x7c00));
  if (i.has("relu")) { // below zero to +0; NaN stays
    Value* negative = b.ir.CreateAnd(b.ir.CreateICmpSLT(bits, b.splat(16, 0)), b.ir.CreateNot(nan));
    bits = b.select(negative, b.splat(16, 0), bits);
  }
  if (i.has("sat")) { // to [0, 1], NaN to +0
    bits = b.select(b.ir.CreateOr(nan, b.ir.CreateICmpSLT(bits, b.splat(16, 0))), b.splat(16, 0), bits);
    Value* one = b.splat(16, is_bf16(i) ? 0x3f80 : 0x3c00);
    bits = b.select(b.ir.CreateICmpSGT(bits, one), one, bits);
  }
  return bits;
}

void apply(FunctionEmitter& e, const Instruction& i, const HalfOperation& operation, bool arithmetic = true) {
  auto& b = e.lanes();
  const bool packed = is_packed(i);
  const auto one = [&](unsigned shift) {
    std::vector<Value*> args;
    for (std::size_t k = 1; k < i.operands.size(); ++k) {
      Value* whole = e.source(i, k, packed ? Type::b32 : Type::b16);
      Value* half = packed ? b.resize(b.ir.CreateLShr(whole, b.splat(32, shift)), 16, false) : whole;
      args.push_back(i.has("ftz") ? flush_half(e, half, is_bf16(i)) : half);
    }
    Value* result = operation(e, args);
    return arithmetic ? finish(e, i, result) : result;
  };
  Value* low = one(0);
  if (!packed) return e.write(i, 0, Type::b16, low);
  Value* high = one(16);
  Value* both =
      b.ir.CreateOr(b.resize(low, 32, false), b.ir.CreateShl(b.resize(high, 32, false), b.splat(32, 16)));
  std::vector<Value*> operands;
  for (std::size_t k = 1; k < i.operands.size(); ++k) operands.push_back(e.source(i, k, Type::b32));
  pass_bits(e, i, {BitOp::parts, 4, static_cast<std::uint8_t>(operands.size()), 2}, operands, both);
  e.write(i, 0, Type::b32, both);
}

template <class Operation> HalfOperation through_f32(bool bf16, const Operation& operation) {
  return [bf16, operation](FunctionEmitter& e, std::span<Value* const> args) {
    std::vector<Value*> wide;
    for (Value* arg : args) wide.push_back(widen_half(e, arg, bf16));
    return narrow_half(e, operation(e, wide), bf16);
  };
}

// .ftz of f16 flushes what is below the smallest normal number once rounded as if exponents had no lower
// limit.
Value* flush_product(FunctionEmitter& e, Value* value) {
  auto& b = e.lanes();
  Value* small = b.ir.CreateFCmpOLT(b.unary(llvm::Intrinsic::fabs, value), b.splat_f32(0x1p-14F - 0x1p-26F));
  return b.select(small, b.binary(llvm::Intrinsic::copysign, b.splat_f32(0), value), value);
}

void emit_binary(FunctionEmitter& e, const Instruction& i) {
  apply(e, i, through_f32(is_bf16(i), [&i](FunctionEmitter& f, std::span<Value* const> x) {
          if (i.opcode == "add") return f.ir().CreateFAdd(x[0], x[1]);
          if (i.opcode == "sub") return f.ir().CreateFSub(x[0], x[1]);
          Value* product = f.ir().CreateFMul(x[0], x[1]); // exact
          return i.has("ftz") ? flush_product(f, product) : product;
        }));
}

void emit_fma(FunctionEmitter& e, const Instruction& i) {
  const char* name = is_bf16(i) ? "assay_fma_bf16" : i.has("ftz") ? "assay_fma_ftz_f16" : "assay_fma_f16";
  apply(e, i, [name](FunctionEmitter& f, std::span<Value* const> x) {
    return f.lanes().call_lanes(name, f.lanes().int_lanes(16), x);
  });
}

void emit_min_max(FunctionEmitter& e, const Instruction& i) {
  apply(e, i,
        through_f32(is_bf16(i),
                    [&i](FunctionEmitter& f, std::span<Value* const> x) {
                      Value* value = x[0];
                      for (std::size_t k = 1; k < x.size(); ++k)
                        value = float_min_max(f, value, x[k], i.opcode == "max", i.has("NaN"));
                      return value;
                    }),
        false);
}

void emit_sign(FunctionEmitter& e, const Instruction& i) {
  apply(
      e, i,
      [&i](FunctionEmitter& f, std::span<Value* const> x) {
        auto& b = f.lanes();
        Value* magnitude = b.ir.CreateAnd(x[0], b.splat(16, 0x7fff));
        Value* nan = b.ir.CreateICmpUGT(magnitude, b.splat(16, is_bf16(i) ? 0x7f80 : 0x7c00));
        Value* number = i.opcode == "abs" ? magnitude : b.ir.CreateXor(x[0], b.splat(16, 0x8000));
        return b.select(nan, b.splat(16, 0x7fff), number);
      },
      false);
}

// ex2.approx and tanh.approx of halves: the f32 function, rounded once.
void emit_approximate(FunctionEmitter& e, const Instruction& i) {
  const std::string name = i.opcode == "ex2" ? "assay_ex2_f32" : "assay_tanh_f32";
  apply(e, i, through_f32(is_bf16(i), [name](FunctionEmitter& f, std::span<Value* const> x) {
          return f.lanes().call_lanes(name, x[0]->getType(), std::array{x[0]});
        }));
}

} // namespace

Handler half_handler(std::string_view opcode, const Instruction& i) {
  if (i.types.empty()) return nullptr;
  const Type type = i.types.back();
  if (type != Type::f16 && type != Type::bf16 && type != Type::f16x2 && type != Type::bf16x2) return nullptr;
  if (opcode == "add" || opcode == "sub" || opcode == "mul") return emit_binary;
  if (opcode == "fma") return emit_fma;
  if (opcode == "min" || opcode == "max") return emit_min_max;
  if (opcode == "abs" || opcode == "neg") return emit_sign;
  if (opcode == "ex2" || opcode == "tanh") return emit_approximate;
  return nullptr;
}

} // namespace assay::cpu
