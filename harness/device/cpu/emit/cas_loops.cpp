#include "harness/device/cpu/emit/cas_loops.h"

#include <set>

namespace assay::cpu {
namespace {

using Registers = std::set<std::uint32_t>;

// What an address is made from: a register, or a symbol; each copied or converted between spaces only.
ptx::Operand base_of(ptx::Operand address, const ptx::Function& function) {
  for (std::size_t steps = 0; address.reg != ptx::no_index && steps < function.instructions.size(); ++steps) {
    const ptx::Instruction* definition = nullptr;
    for (const ptx::Instruction& i : function.instructions) {
      if (i.operands.empty() || i.operands[0].kind != ptx::Operand::Kind::reg ||
          i.operands[0].reg != address.reg)
        continue;
      if (definition != nullptr) return address;
      definition = &i;
    }
    const bool copies = definition != nullptr && definition->operands.size() == 2 &&
                        (definition->opcode == "mov" || definition->opcode == "cvta");
    if (!copies) return address;
    const ptx::Operand& source = definition->operands[1];
    if (source.reg == ptx::no_index && source.kind != ptx::Operand::Kind::symbol) return address;
    address.reg = source.reg;
    address.variable = source.variable;
    address.name = source.name;
    address.offset += source.offset;
  }
  return address;
}

bool same_address(const ptx::Operand& one, const ptx::Operand& other, const ptx::Function& function) {
  const ptx::Operand a = base_of(one, function), b = base_of(other, function);
  return a.reg == b.reg && a.variable == b.variable && a.name == b.name && a.offset == b.offset;
}

bool is_plain_load(const ptx::Instruction& i) {
  return i.opcode == "ld" && i.operands.size() == 2 && i.operands[0].kind == ptx::Operand::Kind::reg &&
         !i.has("volatile") && !i.has("relaxed") && !i.has("acquire") && !i.has("nc") && !i.has("param");
}

// The registers from which moves lead to the given one.
Registers sources_of(std::uint32_t reg, const ptx::Function& function) {
  Registers found{reg};
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const ptx::Instruction& i : function.instructions)
      if (i.opcode == "mov" && i.operands.size() == 2 && i.operands[0].kind == ptx::Operand::Kind::reg &&
          i.operands[1].kind == ptx::Operand::Kind::reg && found.contains(i.operands[0].reg))
        found.insert(i.operands[1].reg);
  }
  return found;
}

} // namespace

void relax_reads_of_swaps(ptx::Function& function) {
  for (const ptx::Instruction& swap : function.instructions) {
    if (swap.opcode != "atom" || !swap.has("cas") || swap.operands.size() != 4 ||
        swap.operands[2].kind != ptx::Operand::Kind::reg)
      continue;
    const Registers compared = sources_of(swap.operands[2].reg, function);
    for (ptx::Instruction& load : function.instructions)
      if (is_plain_load(load) && compared.contains(load.operands[0].reg) &&
          same_address(load.operands[1], swap.operands[1], function))
        load.modifiers.emplace_back("relaxed");
  }
}

} // namespace assay::cpu
