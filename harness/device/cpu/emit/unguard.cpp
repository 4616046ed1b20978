#include "harness/device/cpu/emit/unguard.h"

#include "harness/device/cpu/emit/blocks.h"

namespace assay::cpu {
namespace {

bool needs_branch(const ptx::Instruction& i) {
  if (i.guard == ptx::no_index) return false;
  return wait_of(i) != Wait::none || i.opcode == "call" || i.opcode == "trap" || i.opcode == "brx";
}

ptx::Instruction branch_around(const ptx::Instruction& i, std::uint64_t target) {
  ptx::Instruction branch;
  branch.opcode = "bra";
  branch.guard = i.guard;
  branch.guard_negated = !i.guard_negated;
  branch.line = i.line;
  branch.scope = i.scope;
  branch.source = i.source;
  ptx::Operand operand;
  operand.kind = ptx::Operand::Kind::integer;
  operand.bits = target;
  branch.operands.push_back(operand);
  return branch;
}

} // namespace

void branch_around_guarded_waits(ptx::Function& function) {
  std::vector<ptx::Instruction> rewritten;
  std::vector<std::uint32_t> moved(function.instructions.size() + 1);
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    ptx::Instruction& instruction = function.instructions[i];
    moved[i] = static_cast<std::uint32_t>(rewritten.size());
    if (needs_branch(instruction)) {
      rewritten.push_back(branch_around(instruction, rewritten.size() + 2));
      instruction.guard = ptx::no_index;
    }
    rewritten.push_back(std::move(instruction));
  }
  moved.back() = static_cast<std::uint32_t>(rewritten.size());
  for (ptx::Label& label : function.labels) label.position = moved[label.position];
  function.instructions = std::move(rewritten);
}

} // namespace assay::cpu
