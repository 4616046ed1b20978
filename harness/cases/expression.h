// Integer expressions of manifests: + - * / % ( ) < <= > >= == != ?: ceil_div next_pow2 min max, where /
// rounds down.
#pragma once

#include "harness/base/error.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The value of a name, or nullopt where there is none.
using Scope = std::function<std::optional<std::int64_t>(std::string_view name)>;

class Expression {
 public:
  Expression() = default; // the constant 0

  // At most 16384 letters and 48 levels of nesting. A syntax error is a user error at `place` with the column
  // inside the expression told in the message.
  static Result<Expression> parse(std::string_view text, Place place);

  // Unknown name, division by zero, overflow of 64 bits: user errors at the expression's place.
  Result<std::int64_t> evaluate(const Scope& scope) const;

  const std::string& text() const;
  const Place& place() const;
  const std::vector<std::string>& names() const; // every name it reads, each once

 private:
  // Postfix code for a stack of at most max_depth values; ?: jumps, so that the branch not taken is not
  // evaluated.
  enum class Code : std::uint8_t {
    constant, // push operand
    name,     // push the value of names_[operand]
    negate,
    add,
    subtract,
    multiply,
    divide,
    modulo,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    ceil_div,
    next_pow2,
    min,
    max,
    jump,         // to operand
    jump_if_zero, // pop; to operand where it was 0
  };
  struct Step {
    Code code = Code::constant;
    std::int64_t operand = 0;
  };
  class Parser;

  std::string text_ = "0";
  Place place_;
  std::vector<std::string> names_;
  std::vector<Step> steps_{Step{}};
};

} // namespace assay
