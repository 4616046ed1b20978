// The body of one .func or .entry: declarations, labels, instructions, nested scopes.
#pragma once

#include "harness/device/cpu/ptx/ast.h"
#include "harness/device/cpu/ptx/cursor.h"
#include "harness/device/cpu/ptx/scopes.h"

#include <set>
#include <string_view>
#include <utility>

namespace assay::ptx {

class FunctionParser {
 public:
  FunctionParser(Cursor& cursor, Function& function) : cursor_(cursor), function_(function) {}
  Result<void> parse_body(); // from '{' to its '}'

 private:
  Result<void> parse_statement();
  Result<void> parse_directive();
  Result<void> parse_registers();
  Result<void> parse_variables(Space space);
  Result<void> parse_loc();
  Result<void> parse_labelled(std::string_view name);
  Result<void> parse_instruction();
  Result<void> parse_guard(Instruction& instruction);
  Result<Operand> parse_operand();
  Result<Operand> parse_simple_operand();
  Result<Operand> parse_address();
  Result<Operand> parse_group(char close, Operand::Kind kind);
  Result<void> parse_offset(Operand& operand);
  Result<Operand> resolve(std::string_view name);
  void open_scope();
  void close_scope();

  Cursor& cursor_;
  Function& function_;
  Scopes scopes_;
  std::vector<std::uint32_t> scope_stack_;
  SourceLine source_;
  std::set<std::pair<std::uint32_t, std::string_view>> labels_;
  unsigned nesting_ = 0;
};

// One variable declaration after its space, up to but without the separator: [.align n] [.v4] .type
// name[dims] [= init].
Result<Variable> parse_variable(Cursor& cursor, Space space);

} // namespace assay::ptx
