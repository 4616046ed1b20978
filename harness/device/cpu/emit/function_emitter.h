// Emits one PTX function as one LLVM function that runs a warp through it.
//
// Registers. Within a block a register is an SSA value. One that is live across blocks also has a place in
// the frame, read at its first use in a block and written back at the block's end, where lanes that are not
// active keep what they had. So nothing is kept in phis, which would meet at the dispatcher in numbers, and a
// vector that must survive a runtime call would be in memory anyway.
#pragma once

#include "harness/base/error.h"
#include "harness/device/cpu/emit/blocks.h"
#include "harness/device/cpu/emit/code_data.h"
#include "harness/device/cpu/emit/lane_builder.h"
#include "harness/device/cpu/emit/layout.h"
#include "harness/device/cpu/emit/registers.h"

#include <optional>
#include <string>
#include <vector>

namespace assay::cpu {

// What all functions of a module share while they are emitted.
struct ModuleScope {
  const ptx::Module& source;
  const Layout& layout;
  CodeData& data;
  LaneBuilder& lanes;
  std::uint32_t first_block = 0; // counts the module's blocks, for coverage
  bool wide_vectors = false;     // the host has AVX-512
};

// The name of a function in the emitted module.
std::string symbol_of(const ptx::Function& function);

class FunctionEmitter {
 public:
  FunctionEmitter(ModuleScope& scope, const ptx::Function& function, std::vector<Block> blocks);

  Result<void> run(llvm::Function* into);

  // For the instruction handlers (handlers.h).
  LaneBuilder& lanes() { return scope_.lanes; }
  llvm::IRBuilder<>& ir() { return scope_.lanes.ir; }
  ModuleScope& scope() { return scope_; }
  const ptx::Function& function() const { return function_; }
  llvm::Value* warp() { return warp_; }
  llvm::Value* executing() { return executing_; } // lanes that execute this instruction
  llvm::Value* alive();

  // The k-th operand as lanes of the type; its undefined lanes join those of the instruction.
  llvm::Value* source(const ptx::Instruction& i, std::size_t k, ptx::Type type);
  llvm::Value* read(const ptx::Operand& operand, ptx::Type type);
  // Writes the k-th operand. A wider register is extended, by sign where the type is signed.
  void write(const ptx::Instruction& i, std::size_t k, ptx::Type type, llvm::Value* value);
  void write(const ptx::Operand& operand, ptx::Type type, llvm::Value* value);
  void write_second(const ptx::Instruction& i, llvm::Value* mask); // the p of d|p, if there is one
  unsigned register_bits(const ptx::Operand& operand) const;

  llvm::Value* undefined_lanes(const ptx::Operand& operand); // mask; null: none
  void taint(llvm::Value* mask); // adds to the instruction's undefined lanes; null: nothing
  void set_taint(llvm::Value* mask) { undefined_ = mask; }
  llvm::Value* taken_taint() { return undefined_; }
  void use(llvm::Value* mask, const ptx::Instruction& i); // these lanes matter now: report the undefined ones

  // Generic or space address of an address operand, <32 x i64>; its undefined lanes are reported as used.
  llvm::Value* address(const ptx::Instruction& i, const ptx::Operand& operand, Space& space);
  // What the addresses in a register have in common (an AddressShape), for accesses of `bytes` by each of the
  // executing lanes; found once in a block. Its undefined lanes are reported as used.
  llvm::Value* shape(const ptx::Instruction& i, std::uint32_t reg, unsigned bytes);
  const Site* site(const ptx::Instruction& i);
  llvm::Value* warp_field(std::size_t offset, llvm::Type* type);
  llvm::Value* area(std::uint32_t variable); // the parameter area of a .param variable, see areas.h
  void after_call();                         // lanes may have exited in a callee

  llvm::Value* value_buffer();     // 8 vectors of 32 x 8 bytes, for what a load or store passes
  llvm::Value* undefined_buffer(); // 8 masks
  llvm::Value* matrix_buffer();    // MatrixOperands of mma.h
  llvm::Value* read_carry();       // the condition code's carry, as a mask
  void write_carry(llvm::Value* mask);

  template <class... Args>
  void fail(const ptx::Instruction& i, ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
    if (error_) return;
    error_ = Error{kind,
                   fmt::format(format, std::forward<Args>(args)...),
                   {scope_.source.origin, static_cast<int>(i.line), 0}};
  }
  const ptx::Instruction& current() const { return *instruction_; }

 private:
  struct Place {
    llvm::AllocaInst* value = nullptr;
    llvm::AllocaInst* undefined = nullptr;
  };

  struct KnownShape {
    llvm::Value *base, *lanes;
    unsigned bytes;
    llvm::Value* shape;
  };

  void begin_frame(llvm::Function* into);
  void emit_block(std::uint32_t index);
  void gather(std::uint32_t index);
  void count_step(std::uint32_t index);
  void emit_instruction(const ptx::Instruction& i);
  void check_half_registers(const ptx::Instruction& i);
  void write_back(std::uint32_t index);
  void end_block(std::uint32_t index);
  void go(std::uint32_t target, llvm::Value* lanes);
  void part(std::uint32_t yes, llvm::Value* yes_lanes, std::uint32_t no, llvm::Value* no_lanes);
  void leave(const Block& block, llvm::Value* leaving);
  void emit_table(const Block& block);
  void emit_dispatch();
  void emit_return();
  llvm::Value* condition(const Block& block);
  llvm::Value* load_register(std::uint32_t reg);
  llvm::Value* load_undefined(std::uint32_t reg);
  bool register_fits(ptx::Type declared, ptx::Type type) const; // PTX ISA, "Type Checking Rules" and "Operand
                                                                // Size Exceeding Instruction-Type Size"
  llvm::Value* immediate(const ptx::Operand& operand, ptx::Type type);
  llvm::Value* symbol_address(const ptx::Operand& operand, Space* space);
  llvm::Value* special(const ptx::Operand& operand, unsigned bits);
  llvm::Value* flow_field(std::size_t offset);
  llvm::Value* waiting_slot(std::uint32_t block);
  const ptx::Instruction& instruction_of(const Block& block) const;

  ModuleScope& scope_;
  const ptx::Function& function_;
  std::vector<Block> blocks_;
  Liveness live_;
  std::vector<bool> tainted_;
  llvm::Function* into_ = nullptr;
  llvm::Value* warp_ = nullptr;
  llvm::Value* flow_ = nullptr;
  llvm::Value* waiting_ = nullptr;
  llvm::Value* local_base_ = nullptr;
  llvm::Value* carry_ = nullptr;
  llvm::Value* values_buffer_ = nullptr;
  llvm::Value* undefined_buffer_ = nullptr;
  llvm::Value* matrix_buffer_ = nullptr;
  std::vector<std::uint32_t> local_offsets_; // of .local variables in the function's local frame, by variable
  std::vector<llvm::Value*> areas_;          // of .param variables
  std::vector<Place> places_;                // of registers that cross blocks
  std::vector<llvm::BasicBlock*> entries_;
  std::vector<llvm::Value*> shape_slots_;
  llvm::BasicBlock* dispatch_ = nullptr;
  llvm::BasicBlock* return_ = nullptr;

  // While emitting one block.
  llvm::Value* active_ = nullptr;
  llvm::Value* executing_ = nullptr;
  llvm::Value* undefined_ = nullptr;
  std::vector<llvm::Value*> values_, masks_;        // by register: its value and undefined lanes now
  std::vector<llvm::Value*> before_, before_masks_; // as they were in the frame, where that was read
  std::vector<std::uint32_t> written_;
  std::vector<bool> dirty_;
  std::vector<KnownShape> shapes_; // the latest, at most known_shapes
  std::size_t next_shape_ = 0;
  const ptx::Instruction* instruction_ = nullptr;
  std::vector<const Site*> site_of_;
  std::optional<Error> error_;
};

} // namespace assay::cpu
