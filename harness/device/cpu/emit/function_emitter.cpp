#include "harness/device/cpu/emit/function_emitter.h"

#include "harness/device/cpu/emit/handlers.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <bit>
#include <cstddef>

namespace assay::cpu {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

FunctionEmitter::FunctionEmitter(ModuleScope& scope, const ptx::Function& function, std::vector<Block> blocks)
    : scope_(scope), function_(function), blocks_(std::move(blocks)), live_(find_liveness(function, blocks_)),
      tainted_(may_be_undefined(function)) {
  const std::size_t registers = function.registers.size();
  values_.resize(registers);
  masks_.resize(registers);
  before_.resize(registers);
  before_masks_.resize(registers);
  dirty_.resize(registers);
  site_of_.resize(function.instructions.size());
}

Result<void> FunctionEmitter::run(llvm::Function* into) {
  begin_frame(into);
  for (std::uint32_t b = 0; b < blocks_.size() && !error_; ++b) emit_block(b);
  if (error_) return std::unexpected(*error_);
  emit_dispatch();
  emit_return();
  scope_.first_block += static_cast<std::uint32_t>(blocks_.size());
  return {};
}

void FunctionEmitter::emit_instruction(const Instruction& i) {
  instruction_ = &i;
  undefined_ = nullptr;
  executing_ = active_;
  if (i.guard != ptx::no_index) {
    Value* guard = load_register(i.guard);
    if (i.guard_negated) guard = ir().CreateNot(guard);
    executing_ = ir().CreateAnd(active_, guard);
    use(load_undefined(i.guard), i);
  }
  check_half_registers(i);
  const Handler handler = handler_of(i);
  if (!handler) return fail(i, ErrorKind::environment, "the CPU device does not support '{}'", i.opcode);
  handler(*this, i);
}

// Handlers read halves as bits, so that what their registers are declared as is checked here.
void FunctionEmitter::check_half_registers(const Instruction& i) {
  static constexpr std::string_view arithmetic[] = {"add", "sub", "mul", "fma", "min",
                                                    "max", "abs", "neg", "ex2", "tanh"};
  if (i.types.empty() || std::ranges::find(arithmetic, i.opcode) == std::end(arithmetic)) return;
  const Type type = i.types.back();
  if (type != Type::f16 && type != Type::bf16 && type != Type::f16x2 && type != Type::bf16x2) return;
  for (const Operand& operand : i.operands)
    if (operand.kind == Operand::Kind::reg && !same_kind(function_.registers[operand.reg].type, type))
      return fail(i, ErrorKind::user, "a register of type .{} cannot be an operand of type .{} of '{}'",
                  name_of(function_.registers[operand.reg].type), name_of(type), i.opcode);
}

Value* FunctionEmitter::load_register(std::uint32_t reg) {
  if (values_[reg]) return values_[reg];
  llvm::Type* type = scope_.lanes.lanes_of(function_.registers[reg].type);
  if (!type->isIntegerTy(32)) type = scope_.lanes.int_lanes(bits_of(function_.registers[reg].type));
  if (!places_[reg].value) return values_[reg] = llvm::Constant::getNullValue(type); // nobody wrote it
  before_[reg] = ir().CreateAlignedLoad(type, places_[reg].value, llvm::Align(4));
  return values_[reg] = before_[reg];
}

Value* FunctionEmitter::load_undefined(std::uint32_t reg) {
  if (!tainted_[reg]) return nullptr;
  if (masks_[reg]) return masks_[reg];
  if (values_[reg] && dirty_[reg]) return nullptr;
  if (!places_[reg].undefined) return nullptr;
  before_masks_[reg] = ir().CreateLoad(ir().getInt32Ty(), places_[reg].undefined);
  return masks_[reg] = before_masks_[reg];
}

unsigned FunctionEmitter::register_bits(const Operand& operand) const {
  return operand.kind == Operand::Kind::reg ? bits_of(function_.registers[operand.reg].type) : 0;
}

Value* FunctionEmitter::undefined_lanes(const Operand& operand) {
  return operand.kind == Operand::Kind::reg ? load_undefined(operand.reg) : nullptr;
}

void FunctionEmitter::taint(Value* mask) {
  if (!mask) return;
  undefined_ = undefined_ ? ir().CreateOr(undefined_, mask) : mask;
}

void FunctionEmitter::use(Value* mask, const Instruction& i) {
  if (!mask) return;
  auto* report = llvm::BasicBlock::Create(ir().getContext(), "undefined", into_);
  auto* next = llvm::BasicBlock::Create(ir().getContext(), "", into_);
  Value* bad = ir().CreateAnd(mask, executing_);
  ir().CreateCondBr(ir().CreateICmpNE(bad, ir().getInt32(0)), report, next,
                    llvm::MDBuilder(ir().getContext()).createUnlikelyBranchWeights());
  ir().SetInsertPoint(report);
  lanes().call("assay_undefined_used", ir().getVoidTy(), {warp_, bad, lanes().pointer(site(i))});
  ir().CreateBr(next);
  ir().SetInsertPoint(next);
}

bool FunctionEmitter::register_fits(Type declared, Type type) const {
  if ((declared == Type::pred) != (type == Type::pred)) return false;
  static constexpr std::string_view relaxed[] = {"ld", "ldu", "st", "cvt"};
  const bool wider = std::ranges::find(relaxed, instruction_->opcode) != std::end(relaxed);
  if (wider ? bits_of(declared) < bits_of(type) : bits_of(declared) != bits_of(type)) return false;
  return same_kind(declared, type);
}

Value* FunctionEmitter::source(const Instruction& i, std::size_t k, Type type) {
  if (k >= i.operands.size()) {
    fail(i, ErrorKind::user, "'{}' lacks operand {}", i.opcode, k + 1);
    return llvm::Constant::getNullValue(lanes().lanes_of(type));
  }
  return read(i.operands[k], type);
}

Value* FunctionEmitter::immediate(const Operand& operand, Type type) {
  std::uint64_t bits = operand.bits;
  const bool real = operand.kind != Operand::Kind::integer;
  if (!operand.folded &&
      (real ? is_integer(type) && !is_untyped(type) : type == Type::f32 || type == Type::f64))
    fail(*instruction_, ErrorKind::user, "{} cannot be an operand of type .{} of '{}'",
         real ? "a floating-point literal" : "an integer literal", name_of(type), instruction_->opcode);
  if (type == Type::pred) return ir().getInt32(bits != 0 ? ~0u : 0u);
  if (operand.kind == Operand::Kind::f64 && bits_of(type) == 32)
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  if (operand.kind == Operand::Kind::f32 && type == Type::f64)
    bits = std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  return lanes().cast(lanes().splat(bits_of(type), bits), lanes().lanes_of(type));
}

Value* FunctionEmitter::read(const Operand& operand, Type type) {
  llvm::Type* wanted = lanes().lanes_of(type);
  switch (operand.kind) {
  case Operand::Kind::integer:
  case Operand::Kind::f32:
  case Operand::Kind::f64:
    return immediate(operand, type);
  case Operand::Kind::special:
    return lanes().cast(special(operand, bits_of(type)), wanted);
  case Operand::Kind::symbol: {
    Value* value = symbol_address(operand, nullptr);
    return lanes().cast(lanes().resize(value, bits_of(type), false), wanted);
  }
  case Operand::Kind::reg:
    break;
  default:
    fail(*instruction_, ErrorKind::user, "'{}' does not take an operand of this kind", instruction_->opcode);
    return llvm::Constant::getNullValue(wanted);
  }
  taint(load_undefined(operand.reg));
  Value* value = load_register(operand.reg);
  const Type declared = function_.registers[operand.reg].type;
  if ((declared == Type::pred) != (type == Type::pred)) {
    fail(*instruction_, ErrorKind::user, "'{}' mixes predicate and value registers", instruction_->opcode);
    return llvm::Constant::getNullValue(wanted);
  }
  if (type == Type::pred) return operand.negated ? ir().CreateNot(value) : value;
  if (!register_fits(declared, type)) {
    fail(*instruction_, ErrorKind::user, "a register of type .{} cannot be an operand of type .{} of '{}'",
         name_of(declared), name_of(type), instruction_->opcode);
    return llvm::Constant::getNullValue(wanted);
  }
  return lanes().cast(lanes().resize(value, bits_of(type), false), wanted);
}

void FunctionEmitter::write(const Instruction& i, std::size_t k, Type type, Value* value) {
  if (k >= i.operands.size()) return fail(i, ErrorKind::user, "'{}' lacks operand {}", i.opcode, k + 1);
  const Operand& operand = i.operands[k];
  if (operand.kind == Operand::Kind::pair) return write(operand.parts[0], type, value);
  write(operand, type, value);
}

void FunctionEmitter::write_second(const Instruction& i, Value* mask) {
  if (!i.operands.empty() && i.operands[0].kind == Operand::Kind::pair)
    write(i.operands[0].parts[1], Type::pred, mask);
}

void FunctionEmitter::write(const Operand& operand, Type type, Value* value) {
  if (operand.kind == Operand::Kind::sink) return;
  if (operand.kind != Operand::Kind::reg)
    return fail(*instruction_, ErrorKind::user, "the destination of '{}' is not a register",
                instruction_->opcode);
  const std::uint32_t reg = operand.reg;
  const Type declared = function_.registers[reg].type;
  if (!register_fits(declared, type))
    return fail(*instruction_, ErrorKind::user,
                "a result of type .{} of '{}' does not fit a register of type .{}", name_of(type),
                instruction_->opcode, name_of(declared));
  if (type != Type::pred) value = lanes().resize(lanes().as_int(value), bits_of(declared), is_signed(type));
  Value* mask = tainted_[reg] && undefined_ ? undefined_ : nullptr;
  if (executing_ != active_) { // guarded: other lanes keep theirs
    Value* old = load_register(reg);
    Value* old_mask = load_undefined(reg);
    Value* keeps = ir().CreateNot(executing_);
    value = type == Type::pred ? ir().CreateOr(ir().CreateAnd(value, executing_), ir().CreateAnd(old, keeps))
                               : lanes().select(lanes().to_lanes(executing_), value, old);
    if (mask) mask = ir().CreateAnd(mask, executing_);
    if (old_mask) {
      Value* kept = ir().CreateAnd(old_mask, keeps);
      mask = mask ? ir().CreateOr(mask, kept) : kept;
    }
  }
  values_[reg] = value;
  masks_[reg] = mask;
  if (!dirty_[reg]) written_.push_back(reg);
  dirty_[reg] = true;
}

const Site* FunctionEmitter::site(const Instruction& i) {
  const auto index = static_cast<std::size_t>(&i - function_.instructions.data());
  if (!site_of_[index]) {
    const auto id = static_cast<std::uint32_t>(scope_.data.sites.size());
    site_of_[index] = &scope_.data.sites.emplace_back(Site{id, i.line, i.source.file, i.source.line});
  }
  return site_of_[index];
}

Value* FunctionEmitter::warp_field(std::size_t offset, llvm::Type* type) {
  Value* place = ir().CreateConstInBoundsGEP1_64(ir().getInt8Ty(), warp_, offset);
  return ir().CreateAlignedLoad(type, place, llvm::Align(4));
}

Value* FunctionEmitter::alive() { return warp_field(offsetof(Warp, alive), ir().getInt32Ty()); }

Value* FunctionEmitter::area(std::uint32_t variable) { return areas_[variable]; }

std::string symbol_of(const ptx::Function& function) { return "ptx." + std::string(function.name); }

Value* FunctionEmitter::value_buffer() {
  if (!values_buffer_) values_buffer_ = lanes().slot(lanes().int_lanes(64), 8);
  return values_buffer_;
}

Value* FunctionEmitter::undefined_buffer() {
  if (!undefined_buffer_) undefined_buffer_ = lanes().slot(ir().getInt32Ty(), 8);
  return undefined_buffer_;
}

Value* FunctionEmitter::matrix_buffer() {
  if (!matrix_buffer_) matrix_buffer_ = lanes().slot(ir().getInt8Ty(), sizeof(MatrixOperands));
  return matrix_buffer_;
}

Value* FunctionEmitter::read_carry() {
  if (!carry_) carry_ = lanes().slot(ir().getInt32Ty());
  return ir().CreateLoad(ir().getInt32Ty(), carry_);
}

void FunctionEmitter::write_carry(Value* mask) {
  Value* kept = ir().CreateAnd(read_carry(), ir().CreateNot(executing_));
  ir().CreateStore(ir().CreateOr(kept, ir().CreateAnd(mask, executing_)), carry_);
}

void FunctionEmitter::after_call() {
  active_ = executing_ = ir().CreateAnd(active_, alive());
  auto* next = llvm::BasicBlock::Create(ir().getContext(), "", into_);
  ir().CreateCondBr(ir().CreateICmpNE(active_, ir().getInt32(0)), next, dispatch_);
  ir().SetInsertPoint(next);
}

} // namespace assay::cpu
