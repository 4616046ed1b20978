// Integer expressions of manifests: + - * / % ( ) < <= > >= == != ?: ceil_div next_pow2 min max, where / rounds down.
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

  // A syntax error is a user error at `place` with the column inside the expression told in the message.
  static Result<Expression> parse(std::string_view text, Place place);

  // Unknown name, division by zero, overflow of 64 bits: user errors at the expression's place.
  Result<std::int64_t> evaluate(const Scope& scope) const;

  const std::string& text() const;
  const Place& place() const;
  const std::vector<std::string>& names() const; // every name it reads, each once

private:
  std::string text_ = "0";
  Place place_;
  std::vector<std::string> names_;
  // the parsed form is the implementer's choice
};

} // namespace assay
