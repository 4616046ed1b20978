#include "harness/device/cpu/emit/lane_builder.h"

#include <array>

namespace assay::cpu {

using llvm::Type;
using llvm::Value;

llvm::FixedVectorType* LaneBuilder::int_lanes(unsigned bits) {
  return llvm::FixedVectorType::get(ir.getIntNTy(bits), 32);
}

Type* LaneBuilder::lanes_of(ptx::Type type) {
  switch (type) {
  case ptx::Type::pred:
    return ir.getInt32Ty();
  case ptx::Type::f32:
    return float_lanes();
  case ptx::Type::f64:
    return double_lanes();
  default:
    return int_lanes(bits_of(type));
  }
}

Value* LaneBuilder::splat(unsigned bits, std::uint64_t value) {
  const llvm::APInt number(bits, value, false, true);
  return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(32), ir.getInt(number));
}
Value* LaneBuilder::splat_f32(float value) {
  return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(32),
                                        llvm::ConstantFP::get(ir.getContext(), llvm::APFloat(value)));
}
Value* LaneBuilder::splat_f64(double value) {
  return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(32),
                                        llvm::ConstantFP::get(ir.getContext(), llvm::APFloat(value)));
}

Value* LaneBuilder::lane_numbers() {
  std::array<std::uint32_t, 32> numbers{};
  for (std::uint32_t i = 0; i < 32; ++i) numbers[i] = i;
  return llvm::ConstantDataVector::get(ir.getContext(), llvm::ArrayRef<std::uint32_t>(numbers));
}

Value* LaneBuilder::as_int(Value* value) {
  const unsigned bits = value->getType()->getScalarSizeInBits();
  return ir.CreateBitCast(value, int_lanes(bits));
}

Value* LaneBuilder::to_mask(Value* condition) { return ir.CreateBitCast(condition, ir.getInt32Ty()); }
Value* LaneBuilder::to_lanes(Value* mask) { return ir.CreateBitCast(mask, int_lanes(1)); }

Value* LaneBuilder::resize(Value* value, unsigned bits, bool sign) {
  return sign ? ir.CreateSExtOrTrunc(value, int_lanes(bits)) : ir.CreateZExtOrTrunc(value, int_lanes(bits));
}

Value* LaneBuilder::call(std::string_view name, Type* result, std::initializer_list<Value*> args) {
  std::vector<Type*> types;
  for (Value* arg : args) types.push_back(arg->getType());
  auto* type = llvm::FunctionType::get(result, types, false);
  llvm::FunctionCallee callee = module_.getOrInsertFunction(llvm::StringRef(name), type);
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
  return ir.CreateCall(callee, llvm::ArrayRef<Value*>(args.begin(), args.size()));
}

llvm::CallInst* LaneBuilder::call_no_return(std::string_view name, std::initializer_list<Value*> args) {
  auto* made = llvm::cast<llvm::CallInst>(call(name, ir.getVoidTy(), args));
  made->setDoesNotReturn();
  return made;
}

Value* LaneBuilder::pointer(const void* address) {
  const auto [known, is_new] = data_symbols_.try_emplace(address, nullptr);
  if (is_new) {
    known->second = module_.getOrInsertGlobal(data_symbol(data_.size()), ir.getInt8Ty());
    data_.push_back(address);
  }
  return known->second;
}

llvm::AllocaInst* LaneBuilder::slot(Type* type, std::uint64_t count) {
  llvm::IRBuilder<> entry(frame_, frame_->begin());
  llvm::AllocaInst* made = entry.CreateAlloca(type, count == 1 ? nullptr : entry.getInt64(count));
  made->setAlignment(llvm::Align(64));
  return made;
}

Value* LaneBuilder::scratch(unsigned index) {
  while (scratch_.size() <= index) scratch_.push_back(slot(int_lanes(64)));
  return scratch_[index];
}

Value* LaneBuilder::call_lanes(std::string_view name, Type* result, std::span<Value* const> args, int mode) {
  std::vector<Value*> passed;
  std::vector<Type*> types;
  unsigned index = 0;
  for (Value* arg : args) {
    Value* place = scratch(index++);
    ir.CreateAlignedStore(arg, place, llvm::Align(64));
    passed.push_back(place);
  }
  Value* place = scratch(index);
  passed.push_back(place);
  types.assign(passed.size(), ir.getPtrTy());
  if (mode >= 0) {
    passed.push_back(ir.getInt32(static_cast<std::uint32_t>(mode)));
    types.push_back(ir.getInt32Ty());
  }
  auto* type = llvm::FunctionType::get(ir.getVoidTy(), types, false);
  llvm::FunctionCallee callee = module_.getOrInsertFunction(llvm::StringRef(name), type);
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  ir.CreateCall(callee, passed);
  return ir.CreateAlignedLoad(result, place, llvm::Align(64));
}

} // namespace assay::cpu
