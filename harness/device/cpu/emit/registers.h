// What is known about a function's registers before any code is emitted.
#pragma once

#include "harness/device/cpu/emit/blocks.h"
#include "harness/device/cpu/ptx/ast.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::cpu {

// The registers that an instruction writes and reads. A guarded one also reads what it writes: lanes that the
// guard leaves out keep their values.
struct Effects {
  std::vector<std::uint32_t> writes, reads;
};
Effects effects_of(const ptx::Instruction& instruction);

// Replaces, in every operand, a register that the whole function defines once, by an unguarded mov of a
// literal or a symbol, with that.
void fold_constants(ptx::Function& function);

// Renumbers registers so that only those that some instruction names are left.
void drop_unused_registers(ptx::Function& function);

// By register: may it hold a value that derives from memory nobody wrote?
std::vector<bool> may_be_undefined(const ptx::Function& function);

struct Liveness {
  std::vector<std::vector<bool>> in, out; // by block and register
  std::vector<bool> crosses;              // by register: live at the entry of some block
};
// Blocks times registers beyond which a function is refused instead of analysed.
inline constexpr std::size_t largest_liveness = std::size_t{1} << 28;
Liveness find_liveness(const ptx::Function& function, std::span<const Block> blocks);

} // namespace assay::cpu
