#include "harness/device/cpu/ptx/function_parser.h"

#include "harness/device/cpu/ptx/catalogue.h"

namespace assay::ptx {
namespace {

constexpr unsigned deepest_scope = 64;
constexpr std::uint64_t most_registers = 1u << 20;

const std::optional<Space> space_named(std::string_view text) {
  if (text == "shared" || text == "shared::cta") return Space::shared;
  if (text == "local") return Space::local;
  if (text == "param") return Space::param;
  if (text == "global") return Space::global;
  if (text == "const") return Space::constant;
  return std::nullopt;
}

} // namespace

void FunctionParser::open_scope() {
  const auto id = static_cast<std::uint32_t>(function_.scope_parents.size());
  function_.scope_parents.push_back(scope_stack_.empty() ? no_index : scope_stack_.back());
  function_.scope_begin.push_back(static_cast<std::uint32_t>(function_.instructions.size()));
  scope_stack_.push_back(id);
  scopes_.open();
}

void FunctionParser::close_scope() {
  scopes_.close();
  scope_stack_.pop_back();
}

Result<void> FunctionParser::parse_body() {
  ASSAY_TRY_VOID(cursor_.expect('{'));
  open_scope();
  for (const auto* list : {&function_.params, &function_.results})
    for (const Variable& variable : *list) {
      const bool fresh = variable.in_register != no_index
                             ? scopes_.declare_register(variable.name, variable.in_register)
                             : scopes_.declare_variable(
                                   variable.name, static_cast<std::uint32_t>(function_.variables.size()));
      if (!fresh) return user_error(cursor_.place(), "'{}' is declared twice", variable.name);
      function_.variables.push_back(variable);
    }
  while (!scope_stack_.empty()) {
    if (cursor_.at_end()) return cursor_.expected(fmt::format("'}}' at the end of '{}'", function_.name));
    if (cursor_.accept('{')) {
      if (scope_stack_.size() == deepest_scope)
        return user_error(cursor_.place(), "scopes are nested too deeply");
      open_scope();
    } else if (cursor_.accept('}')) {
      close_scope();
    } else {
      ASSAY_TRY_VOID(parse_statement());
    }
  }
  return {};
}

Result<void> FunctionParser::parse_statement() {
  if (cursor_.accept(';')) return {};
  if (cursor_.peek().kind == TokenKind::dotted) return parse_directive();
  if (cursor_.is_name() && cursor_.is(':', 1)) {
    const std::string_view name = cursor_.take().text;
    cursor_.take();
    return parse_labelled(name);
  }
  return parse_instruction();
}

Result<void> FunctionParser::parse_labelled(std::string_view name) {
  if (cursor_.accept_dotted("branchtargets")) {
    BranchTargets targets{name, scope_stack_.back(), static_cast<std::uint32_t>(cursor_.peek().line), {}};
    do {
      ASSAY_TRY(const std::string_view label, cursor_.expect_name("a label"));
      targets.labels.push_back(label);
    } while (cursor_.accept(','));
    function_.branch_targets.push_back(std::move(targets));
    return cursor_.expect(';');
  }
  if (cursor_.is_dotted("callprototype") || cursor_.is_dotted("calltargets")) {
    while (!cursor_.at_end() && !cursor_.is(';'))
      cursor_.take(); // an indirect call carries its own parameters
    return cursor_.expect(';');
  }
  if (!labels_.emplace(scope_stack_.back(), name).second)
    return user_error(cursor_.place(), "label '{}' is defined twice", name);
  function_.labels.push_back(
      {name, scope_stack_.back(), static_cast<std::uint32_t>(function_.instructions.size())});
  return {};
}

Result<void> FunctionParser::parse_directive() {
  const std::string_view text = cursor_.peek().text;
  if (text == "reg") return parse_registers();
  if (text == "loc") return parse_loc();
  if (text == "pragma") {
    while (!cursor_.at_end() && !cursor_.is(';')) cursor_.take();
    return cursor_.expect(';');
  }
  if (const auto space = space_named(text)) {
    cursor_.take();
    return parse_variables(*space);
  }
  if (text == "attribute") return user_error(cursor_.place(), "'.attribute' is not supported here");
  return user_error(cursor_.place(), "'.{}' has no place in a function", text);
}

Result<void> FunctionParser::parse_registers() {
  cursor_.take();
  if (cursor_.accept_dotted("v2") || cursor_.accept_dotted("v4"))
    return environment_error(cursor_.place(), "vector registers are not supported by the CPU device");
  const auto type = cursor_.peek().kind == TokenKind::dotted ? parse_type(cursor_.peek().text) : std::nullopt;
  if (!type) return cursor_.expected("a register type such as .b32");
  cursor_.take();
  do {
    ASSAY_TRY(const std::string_view name, cursor_.expect_name("a register's name"));
    const auto first = static_cast<std::uint32_t>(function_.registers.size());
    std::uint64_t count = 1;
    bool fresh = true;
    if (cursor_.accept('<')) {
      ASSAY_TRY(count, cursor_.expect_integer("a number of registers"));
      ASSAY_TRY_VOID(cursor_.expect('>'));
      if (count > most_registers || first + count > most_registers)
        return user_error(cursor_.place(), "more than {} registers", most_registers);
      fresh = scopes_.declare_range(name, first, static_cast<std::uint32_t>(count));
    } else {
      fresh = scopes_.declare_register(name, first);
    }
    if (!fresh) return user_error(cursor_.place(), "'{}' is declared twice", name);
    function_.registers.resize(first + count, Register{*type});
  } while (cursor_.accept(','));
  return cursor_.expect(';');
}

Result<void> FunctionParser::parse_variables(Space space) {
  do {
    ASSAY_TRY(Variable variable, parse_variable(cursor_, space));
    if (!scopes_.declare_variable(variable.name, static_cast<std::uint32_t>(function_.variables.size())))
      return user_error(cursor_.place(), "'{}' is declared twice", variable.name);
    function_.variables.push_back(std::move(variable));
  } while (cursor_.accept(','));
  return cursor_.expect(';');
}

// .loc file line column [, function_name label, inlined_at file line column]; the first place is the
// innermost.
Result<void> FunctionParser::parse_loc() {
  cursor_.take();
  ASSAY_TRY(const std::uint64_t file, cursor_.expect_integer("a file number"));
  ASSAY_TRY(const std::uint64_t line, cursor_.expect_integer("a line number"));
  ASSAY_TRY_VOID(cursor_.expect_integer("a column"));
  source_ = {static_cast<std::uint32_t>(file), static_cast<std::uint32_t>(line)};
  while (cursor_.accept(',')) {
    ASSAY_TRY(const std::string_view word, cursor_.expect_name("function_name or inlined_at"));
    if (word == "function_name") {
      ASSAY_TRY_VOID(cursor_.expect_name("a label"));
      if (cursor_.accept('+')) ASSAY_TRY_VOID(cursor_.expect_integer("an offset"));
    } else if (word == "inlined_at") {
      for (const char* what : {"a file number", "a line number", "a column"})
        ASSAY_TRY_VOID(cursor_.expect_integer(what));
    } else {
      return user_error(cursor_.place(), "unknown '{}' in .loc", word);
    }
  }
  return {};
}

Result<void> FunctionParser::parse_guard(Instruction& instruction) {
  if (!cursor_.accept('@')) return {};
  instruction.guard_negated = cursor_.accept('!');
  ASSAY_TRY(const std::string_view name, cursor_.expect_name("a predicate register"));
  instruction.guard = scopes_.find(name).reg;
  if (instruction.guard == no_index || function_.registers[instruction.guard].type != Type::pred)
    return user_error(cursor_.place(), "'{}' is not a predicate register", name);
  return {};
}

Result<void> FunctionParser::parse_instruction() {
  Instruction instruction;
  instruction.line = static_cast<std::uint32_t>(cursor_.peek().line);
  instruction.scope = scope_stack_.back();
  instruction.source = source_;
  ASSAY_TRY_VOID(parse_guard(instruction));
  ASSAY_TRY(instruction.opcode, cursor_.expect_name("an instruction"));
  while (cursor_.peek().kind == TokenKind::dotted) {
    const std::string_view modifier = cursor_.take().text;
    instruction.modifiers.push_back(modifier);
    if (const auto type = parse_type(modifier)) instruction.types.push_back(*type);
  }
  if (!cursor_.is(';')) {
    do {
      auto operand = parse_operand();
      if (!operand) {
        // What is not supported may have operands in forms of its own.
        const auto supported = check_supported(instruction, cursor_.place().file);
        if (!supported && supported.error().kind == ErrorKind::environment)
          return std::unexpected(supported.error());
        return std::unexpected(std::move(operand).error());
      }
      instruction.operands.push_back(*std::move(operand));
    } while (cursor_.accept(','));
  }
  ASSAY_TRY_VOID(cursor_.expect(';'));
  function_.instructions.push_back(std::move(instruction));
  return {};
}

} // namespace assay::ptx
