// LLVM's IRBuilder with the words of this layer: values of 32 lanes, masks of lanes, and calls into the
// runtime that pass vectors through memory.
#pragma once

#include "harness/device/cpu/ptx/type.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay::cpu {

class LaneBuilder {
 public:
  explicit LaneBuilder(llvm::Module& module) : ir(module.getContext()), module_(module) {}

  llvm::IRBuilder<> ir;

  // <32 x T>; f16 and bf16 are i16, packed types i32, a predicate is a plain i32.
  llvm::Type* lanes_of(ptx::Type type);
  llvm::FixedVectorType* int_lanes(unsigned bits);
  llvm::FixedVectorType* float_lanes() { return llvm::FixedVectorType::get(ir.getFloatTy(), 32); }
  llvm::FixedVectorType* double_lanes() { return llvm::FixedVectorType::get(ir.getDoubleTy(), 32); }
  llvm::FixedVectorType* half_lanes() { return llvm::FixedVectorType::get(ir.getHalfTy(), 32); }

  llvm::Value* splat(unsigned bits, std::uint64_t value);
  llvm::Value* splat_f32(float value);
  llvm::Value* splat_f64(double value);
  llvm::Value* splat_value(llvm::Value* scalar) { return ir.CreateVectorSplat(32, scalar); }
  llvm::Value* lane_numbers(); // 0 to 31, i32
  llvm::Value* cast(llvm::Value* value, llvm::Type* type) { return ir.CreateBitCast(value, type); }
  llvm::Value* as_int(llvm::Value* value); // the same bits as <32 x iN>

  llvm::Value* to_mask(llvm::Value* condition); // <32 x i1> to i32
  llvm::Value* to_lanes(llvm::Value* mask);     // i32 to <32 x i1>
  llvm::Value* select(llvm::Value* condition, llvm::Value* yes, llvm::Value* no) {
    return ir.CreateSelect(condition, yes, no);
  }
  llvm::Value* resize(llvm::Value* value, unsigned bits, bool sign); // of integer lanes

  llvm::Value* unary(llvm::Intrinsic::ID id, llvm::Value* a) { return ir.CreateUnaryIntrinsic(id, a); }
  llvm::Value* binary(llvm::Intrinsic::ID id, llvm::Value* a, llvm::Value* b) {
    return ir.CreateBinaryIntrinsic(id, a, b);
  }
  llvm::Value* ternary(llvm::Intrinsic::ID id, llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    return ir.CreateIntrinsic(a->getType(), id, {a, b, c});
  }

  // Declares (once) and calls a C function with the given values.
  llvm::Value* call(std::string_view name, llvm::Type* result, std::initializer_list<llvm::Value*> args);
  llvm::CallInst* call_no_return(std::string_view name, std::initializer_list<llvm::Value*> args);
  // Constant data that lives as long as the code: a symbol, so that the code is the same in every process.
  llvm::Value* pointer(const void* address);

  // Stack space for the whole function; set where the function begins.
  void set_frame(llvm::BasicBlock* entry) {
    frame_ = entry;
    scratch_.clear();
  }
  llvm::AllocaInst* slot(llvm::Type* type, std::uint64_t count = 1);
  // A function of lanes in memory, void f(const A*, ..., R*, [mode]): result has the type `result`.
  llvm::Value* call_lanes(std::string_view name, llvm::Type* result, std::span<llvm::Value* const> args,
                          int mode = -1);
  llvm::Value* scratch(unsigned index); // 32 x 8 bytes
  llvm::Module& module() { return module_; }
  // What pointer() was given: number k is the symbol data_symbol(k).
  const std::vector<const void*>& data() const { return data_; }
  static std::string data_symbol(std::size_t number) { return "assay_data_" + std::to_string(number); }

 private:
  llvm::Module& module_;
  llvm::BasicBlock* frame_ = nullptr;
  std::vector<llvm::Value*> scratch_;
  std::vector<const void*> data_;
  std::unordered_map<const void*, llvm::Value*> data_symbols_;
};

} // namespace assay::cpu
