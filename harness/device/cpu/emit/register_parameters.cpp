#include "harness/device/cpu/emit/register_parameters.h"

#include <algorithm>

namespace assay::cpu {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

Type bits_type(Type type) {
  switch (bits_of(type)) {
  case 8:
    return Type::b8;
  case 16:
    return Type::b16;
  case 64:
    return Type::b64;
  case 128:
    return Type::b128;
  default:
    return Type::b32;
  }
}

Operand register_operand(std::uint32_t reg) {
  Operand operand;
  operand.kind = Operand::Kind::reg;
  operand.reg = reg;
  return operand;
}

// ld.param into a register or st.param from an operand, where `near` stands.
Instruction transfer(bool load, Type type, std::uint32_t variable, Operand value, const Instruction& near) {
  Instruction made;
  made.opcode = load ? "ld" : "st";
  const Type bits = bits_type(type);
  made.modifiers = {"param", name_of(bits)};
  made.types = {bits};
  made.guard = near.guard;
  made.guard_negated = near.guard_negated;
  made.line = near.line;
  made.scope = near.scope;
  made.source = near.source;
  Operand address;
  address.kind = Operand::Kind::address;
  address.variable = variable;
  made.operands = {address, std::move(value)};
  if (load) std::swap(made.operands[0], made.operands[1]);
  return made;
}

class Rewriter {
 public:
  Rewriter(const ptx::Module& module, ptx::Function& function) : module_(module), function_(function) {}

  void run() {
    std::vector<Instruction> old = std::move(function_.instructions);
    std::vector<std::uint32_t> moved;
    Instruction nowhere;
    nowhere.line = function_.line;
    load_parameters(old.empty() ? nowhere : unguarded(old.front()));
    for (Instruction& instruction : old) {
      moved.push_back(position());
      if (instruction.opcode == "ret") store_results(instruction);
      if (instruction.opcode == "call")
        rewrite_call(std::move(instruction));
      else
        made_.push_back(std::move(instruction));
    }
    moved.push_back(position());
    store_results(made_.empty() ? nowhere : unguarded(made_.back())); // running off the end returns
    for (ptx::Label& label : function_.labels) label.position = moved[label.position];
    function_.instructions = std::move(made_);
  }

 private:
  std::uint32_t position() const { return static_cast<std::uint32_t>(made_.size()); }

  static Instruction unguarded(Instruction near) {
    near.guard = ptx::no_index;
    return near;
  }

  void load_parameters(const Instruction& near) {
    for (std::uint32_t v = 0; v < function_.params.size(); ++v)
      if (const ptx::Variable& param = function_.params[v]; param.in_register != ptx::no_index)
        made_.push_back(transfer(true, param.type, v, register_operand(param.in_register), near));
  }

  void store_results(const Instruction& near) {
    for (std::uint32_t v = 0; v < function_.results.size(); ++v)
      if (const ptx::Variable& result = function_.results[v]; result.in_register != ptx::no_index)
        made_.push_back(transfer(false, result.type, static_cast<std::uint32_t>(function_.params.size()) + v,
                                 register_operand(result.in_register), near));
  }

  const ptx::Function* named(const Operand& callee) const {
    const auto found = std::ranges::find(module_.functions, callee.name, &ptx::Function::name);
    return callee.kind == Operand::Kind::symbol && found != module_.functions.end() ? &*found : nullptr;
  }

  // The type that an argument passes: a register's own, a literal's as the callee declares it.
  Type type_of(const Operand& part, const std::vector<ptx::Variable>* declared, std::size_t k) const {
    if (part.kind == Operand::Kind::reg) return function_.registers[part.reg].type;
    if (!declared || k >= declared->size() || bits_of((*declared)[k].type) / 8 != (*declared)[k].bytes)
      return Type::none;
    return (*declared)[k].type;
  }

  std::uint32_t variable_for(Type type, const Instruction& call) {
    ptx::Variable variable;
    variable.name = "an argument in a register";
    variable.space = ptx::Space::param;
    variable.type = bits_type(type);
    variable.bytes = variable.alignment = bits_of(type) / 8;
    variable.line = call.line;
    function_.variables.push_back(variable);
    return static_cast<std::uint32_t>(function_.variables.size() - 1);
  }

  static bool passes_value(const Operand& part) {
    return part.kind == Operand::Kind::reg || part.kind == Operand::Kind::integer ||
           part.kind == Operand::Kind::f32 || part.kind == Operand::Kind::f64;
  }

  void rewrite_call(Instruction call) {
    const bool has_results = call.operands.size() > 1 && call.operands[0].kind == Operand::Kind::list;
    const std::size_t callee_at = has_results ? 1 : 0;
    const ptx::Function* callee = named(call.operands[callee_at]);
    std::vector<Instruction> after;
    for (const std::size_t at : {callee_at + 1, std::size_t{0}}) {
      if (at >= call.operands.size() || call.operands[at].kind != Operand::Kind::list) continue;
      const bool results = has_results && at == 0;
      const auto* declared = callee ? (results ? &callee->results : &callee->params) : nullptr;
      std::vector<Operand>& parts = call.operands[at].parts;
      for (std::size_t k = 0; k < parts.size(); ++k) {
        const Type type = passes_value(parts[k]) ? type_of(parts[k], declared, k) : Type::none;
        if (type == Type::none || type == Type::pred) continue; // what is left is refused at the call
        const std::uint32_t variable = variable_for(type, call);
        (results ? after : made_).push_back(transfer(results, type, variable, parts[k], call));
        parts[k] = Operand{};
        parts[k].kind = Operand::Kind::symbol;
        parts[k].variable = variable;
      }
    }
    made_.push_back(std::move(call));
    for (Instruction& instruction : after) made_.push_back(std::move(instruction));
  }

  const ptx::Module& module_;
  ptx::Function& function_;
  std::vector<Instruction> made_;
};

} // namespace

void pass_in_variables(ptx::Module& module) {
  for (ptx::Function& function : module.functions)
    if (function.defined) Rewriter(module, function).run();
}

} // namespace assay::cpu
