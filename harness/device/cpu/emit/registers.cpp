#include "harness/device/cpu/emit/registers.h"

#include <optional>

namespace assay::cpu {
namespace {

using ptx::Instruction;
using ptx::Operand;

void add_registers(const Operand& operand, std::vector<std::uint32_t>& into) {
  if (operand.reg != ptx::no_index) into.push_back(operand.reg);
  for (const Operand& part : operand.parts) add_registers(part, into);
}

bool has_destination(const Instruction& i) {
  static constexpr std::string_view without[] = {
      "st",       "red",   "bra",     "brx",      "ret",           "exit",       "trap",
      "membar",   "fence", "call",    "prefetch", "prefetchu",     "nanosleep",  "cp",
      "stmatrix", "brkpt", "pmevent", "discard",  "applypriority", "setmaxnreg", "griddepcontrol"};
  for (std::string_view opcode : without)
    if (i.opcode == opcode) return false;
  if (i.opcode == "bar" || i.opcode == "barrier") return i.has("red");
  if (i.opcode == "mbarrier")
    return !i.has("init") && !i.has("inval") &&
           (i.has("arrive") || i.has("arrive_drop") || (!i.has("expect_tx") && !i.has("complete_tx")));
  return true;
}

const Operand* constant_of(const Instruction& i) {
  if (i.opcode != "mov" || i.guard != ptx::no_index || i.operands.size() != 2) return nullptr;
  if (i.operands[0].kind != Operand::Kind::reg) return nullptr;
  const Operand& source = i.operands[1];
  const bool constant = source.kind == Operand::Kind::integer || source.kind == Operand::Kind::f32 ||
                        source.kind == Operand::Kind::f64 || source.kind == Operand::Kind::symbol;
  return constant ? &source : nullptr;
}

void substitute(Operand& operand, const std::vector<std::optional<Operand>>& constants) {
  for (Operand& part : operand.parts) substitute(part, constants);
  if (operand.kind != Operand::Kind::reg || operand.negated || !constants[operand.reg]) return;
  const Operand constant = *constants[operand.reg];
  operand = constant;
  operand.folded = true;
}

} // namespace

Effects effects_of(const Instruction& i) {
  Effects effects;
  std::size_t next = 0;
  if (has_destination(i) && !i.operands.empty()) {
    if (i.operands[0].kind == Operand::Kind::address)
      add_registers(i.operands[0], effects.reads);
    else
      add_registers(i.operands[0], effects.writes);
    next = 1;
  }
  for (; next < i.operands.size(); ++next) add_registers(i.operands[next], effects.reads);
  if (i.guard != ptx::no_index) {
    effects.reads.push_back(i.guard);
    effects.reads.insert(effects.reads.end(), effects.writes.begin(), effects.writes.end());
  }
  return effects;
}

void fold_constants(ptx::Function& function) {
  std::vector<unsigned> definitions(function.registers.size());
  std::vector<std::optional<Operand>> constants(function.registers.size());
  for (const Instruction& i : function.instructions) {
    for (const std::uint32_t reg : effects_of(i).writes) ++definitions[reg];
    if (const Operand* value = constant_of(i))
      if (function.registers[i.operands[0].reg].type != ptx::Type::pred)
        constants[i.operands[0].reg] = *value;
  }
  for (std::size_t reg = 0; reg < constants.size(); ++reg)
    if (definitions[reg] != 1) constants[reg].reset();
  for (Instruction& i : function.instructions)
    for (std::size_t k = has_destination(i) ? 1 : 0; k < i.operands.size(); ++k)
      substitute(i.operands[k], constants);
}

void drop_unused_registers(ptx::Function& function) {
  std::vector<std::uint32_t> number(function.registers.size(), ptx::no_index);
  std::vector<ptx::Register> kept;
  const auto renumber = [&](std::uint32_t& reg) {
    if (reg == ptx::no_index) return;
    if (number[reg] == ptx::no_index) {
      number[reg] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(function.registers[reg]);
    }
    reg = number[reg];
  };
  const auto visit = [&](auto& self, Operand& operand) -> void {
    renumber(operand.reg);
    for (Operand& part : operand.parts) self(self, part);
  };
  for (Instruction& i : function.instructions) {
    renumber(i.guard);
    for (Operand& operand : i.operands) visit(visit, operand);
  }
  function.registers = std::move(kept);
}

std::vector<bool> may_be_undefined(const ptx::Function& function) {
  std::vector<bool> tainted(function.registers.size());
  std::vector<Effects> effects;
  for (const Instruction& i : function.instructions) effects.push_back(effects_of(i));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = 0; k < effects.size(); ++k) {
      const Instruction& i = function.instructions[k];
      bool taints = i.opcode == "shfl" || // of a lane that is not there
                    i.opcode == "ld" || i.opcode == "ldu" || i.opcode == "atom" || i.opcode == "ldmatrix" ||
                    (i.opcode == "wmma" && i.has("load"));
      if (i.opcode == "ld" && function.entry && i.has("param") && i.operands.size() > 1 &&
          (i.operands[1].variable == ptx::no_index || i.operands[1].variable < function.params.size()))
        taints = false; // a kernel's own parameter
      if (i.opcode == "ld" && i.has("const")) taints = false;
      for (const std::uint32_t reg : effects[k].reads) taints = taints || tainted[reg];
      if (!taints) continue;
      for (const std::uint32_t reg : effects[k].writes)
        if (!tainted[reg]) tainted[reg] = changed = true;
    }
  }
  return tainted;
}

Liveness find_liveness(const ptx::Function& function, std::span<const Block> blocks) {
  const std::size_t registers = function.registers.size();
  std::vector<std::vector<bool>> uses(blocks.size()), kills(blocks.size());
  Liveness live;
  live.in.assign(blocks.size(), std::vector<bool>(registers));
  live.out = live.in;
  live.crosses.assign(registers, false);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    uses[b].assign(registers, false);
    kills[b].assign(registers, false);
    for (std::uint32_t i = blocks[b].first; i < blocks[b].end; ++i) {
      const Effects effects = effects_of(function.instructions[i]);
      for (const std::uint32_t reg : effects.reads)
        if (!kills[b][reg]) uses[b][reg] = true;
      for (const std::uint32_t reg : effects.writes) kills[b][reg] = true;
    }
    if (blocks[b].ender != ptx::no_index)
      for (const std::uint32_t reg : effects_of(function.instructions[blocks[b].ender]).reads)
        if (!kills[b][reg]) uses[b][reg] = true;
    live.in[b] = uses[b];
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = blocks.size(); b-- > 0;) {
      for (const std::uint32_t s : blocks[b].successors)
        for (std::size_t reg = 0; reg < registers; ++reg)
          if (live.in[s][reg] && !live.out[b][reg]) {
            live.out[b][reg] = true;
            if (!kills[b][reg] && !live.in[b][reg]) live.in[b][reg] = true;
            changed = true;
          }
    }
  }
  for (const auto& in : live.in)
    for (std::size_t reg = 0; reg < registers; ++reg)
      if (in[reg]) live.crosses[reg] = true;
  return live;
}

} // namespace assay::cpu
