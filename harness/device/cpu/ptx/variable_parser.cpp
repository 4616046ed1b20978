// Variable declarations and their initialisers.
#include "harness/device/cpu/ptx/function_parser.h"

#include <bit>
#include <utility>

namespace assay::ptx {
namespace {

constexpr std::uint64_t largest_variable = std::uint64_t{1} << 32;
constexpr unsigned deepest_nesting = 16;

class InitialiserParser {
 public:
  InitialiserParser(Cursor& cursor, Variable& variable)
      : cursor_(cursor), variable_(variable), element_(bits_of(variable.type) / 8) {}

  Result<void> parse() { return parse_value(0); }
  std::uint64_t end() const { return offset_; }

 private:
  Result<void> parse_value(unsigned depth) {
    if (cursor_.accept('{')) {
      if (depth == deepest_nesting) return user_error(cursor_.place(), "initialiser is nested too deeply");
      while (!cursor_.accept('}')) {
        ASSAY_TRY_VOID(parse_value(depth + 1));
        if (!cursor_.is('}')) ASSAY_TRY_VOID(cursor_.expect(','));
      }
      return {};
    }
    InitialValue value;
    value.offset = offset_;
    value.bytes = static_cast<std::uint8_t>(element_);
    ASSAY_TRY_VOID(parse_scalar(value));
    if (!variable_.unsized && offset_ + element_ > variable_.bytes)
      return user_error(cursor_.place(), "initialiser of '{}' is longer than its {} bytes", variable_.name,
                        variable_.bytes);
    if (offset_ + element_ > largest_variable) return user_error(cursor_.place(), "initialiser is too long");
    offset_ += element_;
    variable_.initial.push_back(value);
    return {};
  }

  Result<void> parse_scalar(InitialValue& value) {
    const Token& token = cursor_.peek();
    if (token.kind == TokenKind::name) {
      std::string_view name = cursor_.take().text;
      if (name == "generic" && cursor_.accept('(')) {
        value.generic = true;
        ASSAY_TRY(name, cursor_.expect_name("a symbol"));
        ASSAY_TRY_VOID(cursor_.expect(')'));
      }
      value.symbol = name;
      if (cursor_.accept('+') || cursor_.is('-')) {
        ASSAY_TRY(value.bits, cursor_.expect_integer("an offset"));
      }
      return {};
    }
    if (token.kind == TokenKind::float32 || token.kind == TokenKind::float64) {
      const Token literal = cursor_.take();
      const bool single = variable_.type == Type::f32;
      if (literal.kind == TokenKind::float64 && single)
        value.bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(literal.bits)));
      else if (literal.kind == TokenKind::float32 && variable_.type == Type::f64)
        value.bits = std::bit_cast<std::uint64_t>(
            static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(literal.bits))));
      else
        value.bits = literal.bits;
      return {};
    }
    ASSAY_TRY(value.bits, cursor_.expect_integer("a value"));
    return {};
  }

  Cursor& cursor_;
  Variable& variable_;
  std::uint64_t element_;
  std::uint64_t offset_ = 0;
};

// [4], [2][3], or one [] whose size the initialiser or the launch decides.
Result<std::uint64_t> parse_dimensions(Cursor& cursor, Variable& variable) {
  std::uint64_t count = 1;
  while (cursor.accept('[')) {
    if (cursor.accept(']')) {
      variable.unsized = true;
      continue;
    }
    ASSAY_TRY(const std::uint64_t extent, cursor.expect_integer("an array size"));
    if (extent > largest_variable || count * extent > largest_variable)
      return user_error(cursor.place(), "variable '{}' is larger than 4 GB", variable.name);
    count *= extent;
    ASSAY_TRY_VOID(cursor.expect(']'));
  }
  return count;
}

} // namespace

Result<Variable> parse_variable(Cursor& cursor, Space space) {
  Variable variable;
  variable.space = space;
  variable.line = static_cast<std::uint32_t>(cursor.peek().line);
  std::uint64_t vector = 1;
  std::uint64_t alignment = 0;
  bool typed = false;
  while (cursor.peek().kind == TokenKind::dotted) {
    const Token token = cursor.take();
    if (token.text == "align") {
      ASSAY_TRY(alignment, cursor.expect_integer("an alignment"));
      if (!std::has_single_bit(alignment) || alignment > 4096)
        return user_error(cursor.place(), "alignment {} is not a power of two up to 4096", alignment);
    } else if (token.text == "v2" || token.text == "v4") {
      vector = token.text == "v2" ? 2 : 4;
    } else if (const auto type = parse_type(token.text)) {
      if (*type == Type::pred) return user_error(cursor.place(), "a variable cannot be a predicate");
      variable.type = *type;
      typed = true;
    } else if (token.text != "ptr" && token.text != "global" && token.text != "shared" &&
               token.text != "const" && token.text != "local" && token.text != "attribute" &&
               token.text != "managed") {
      return user_error(cursor.place(), "'.{}' has no place in a variable declaration", token.text);
    }
    if (token.text == "attribute" && cursor.accept('(')) {
      while (!cursor.at_end() && !cursor.accept(')')) cursor.take();
    }
  }
  if (!typed) return cursor.expected("a type such as .b32");
  ASSAY_TRY(variable.name, cursor.expect_name("a variable's name"));
  ASSAY_TRY(const std::uint64_t count, parse_dimensions(cursor, variable));
  const std::uint64_t element = bits_of(variable.type) / 8 * vector;
  if (element * count > largest_variable)
    return user_error(cursor.place(), "variable '{}' is larger than 4 GB", variable.name);
  variable.bytes = variable.unsized ? 0 : element * count;
  variable.alignment = static_cast<std::uint32_t>(alignment ? alignment : element);
  if (cursor.accept('=')) {
    InitialiserParser initialiser(cursor, variable);
    ASSAY_TRY_VOID(initialiser.parse());
    if (variable.unsized) {
      variable.bytes = initialiser.end();
      variable.unsized = false;
    }
  }
  return variable;
}

} // namespace assay::ptx
