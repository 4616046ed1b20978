// A PTX module as its text declares it. Registers, and variables declared inside functions, are resolved to
// indices while parsing (PTX declares before use and scopes by braces); labels, functions and module
// variables stay names. All string_views point into Module::text.
#pragma once

#include "harness/device/cpu/ptx/type.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::ptx {

inline constexpr std::uint32_t no_index = std::numeric_limits<std::uint32_t>::max();

struct Operand {
  enum class Kind : std::uint8_t {
    reg,     // reg; negated for !%p
    special, // name: "%tid.x"
    integer, // bits
    f32,     // bits
    f64,     // bits
    symbol,  // name, or a function's variable; plus offset
    address, // [register or symbol or nothing + offset]
    vector,  // {parts}
    pair,    // parts[0]|parts[1]
    list,    // (parts): of a call
    sink,    // _
  };
  Kind kind = Kind::sink;
  bool negated = false;
  bool folded = false; // a literal or symbol in place of the register that held it
  std::uint32_t reg = no_index;
  std::uint32_t variable =
      no_index; // index into Function::variables; a module variable or label has only a name
  std::string_view name;
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::vector<Operand> parts;
};

struct SourceLine {
  std::uint32_t file = 0; // as in .file; 0: none
  std::uint32_t line = 0;
};

struct Instruction {
  std::string_view opcode;
  std::vector<std::string_view> modifiers; // in order, without dots
  std::vector<Type> types;                 // those of the modifiers that are types
  std::uint32_t guard = no_index;          // predicate register
  bool guard_negated = false;
  std::vector<Operand> operands;
  std::uint32_t line = 0; // of the PTX
  std::uint32_t scope = 0;
  SourceLine source;

  bool has(std::string_view modifier) const {
    for (std::string_view m : modifiers)
      if (m == modifier) return true;
    return false;
  }
};

enum class Space : std::uint8_t { global, constant, shared, local, param };

// One piece of an initialiser: bytes, or the address of a symbol.
struct InitialValue {
  std::uint64_t offset = 0; // within the variable
  std::uint8_t bytes = 0;
  std::uint64_t bits = 0;
  std::string_view symbol; // not empty: its address plus bits
  bool generic = false;    // generic(symbol)
};

struct Variable {
  std::string_view name;
  Space space = Space::global;
  Type type = Type::b8;
  std::uint32_t alignment = 1;
  std::uint64_t bytes = 0; // 0 with unsized = true
  bool unsized = false;    // extern array: dynamic shared memory
  bool external = false;
  std::uint32_t in_register = no_index; // of a .reg parameter or result: the register of that name
  std::uint32_t line = 0;
  std::vector<InitialValue> initial;
};

struct Register {
  Type type = Type::b32;
};

struct Label {
  std::string_view name;
  std::uint32_t scope = 0;
  std::uint32_t position = 0; // the instruction that it stands before
};

struct BranchTargets {
  std::string_view name;
  std::uint32_t scope = 0;
  std::uint32_t line = 0;
  std::vector<std::string_view> labels;
};

struct Function {
  std::string_view name;
  bool entry = false;
  bool defined = false;
  std::uint32_t line = 0;
  std::vector<Variable> params;
  std::vector<Variable> results; // of a .func
  std::array<std::uint32_t, 3> required_block{};
  std::uint32_t max_block_threads = 0; // .maxntid's product; 0: not said
  std::vector<Register> registers;
  std::vector<Variable> variables; // params and results first, then what the body declares
  std::vector<Instruction> instructions;
  std::vector<Label> labels;
  std::vector<BranchTargets> branch_targets;
  std::vector<std::uint32_t> scope_parents; // scope 0 is the body
  std::vector<std::uint32_t> scope_begin;   // first instruction of each scope
};

struct Module {
  std::shared_ptr<const std::string> text;
  std::string origin;
  std::string_view version, target;
  unsigned address_bits = 64;
  std::vector<std::string> files; // by .file number; [0] is unused
  std::vector<Variable> variables;
  std::vector<Function> functions; // a declaration and its definition are one
};

} // namespace assay::ptx
