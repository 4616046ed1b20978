// PTX text to tokens. Comments and white space vanish; every token knows its line.
#pragma once

#include "harness/base/error.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::ptx {

enum class TokenKind : std::uint8_t {
  name,    // an identifier or a register: foo, %r1, $L__BB0_3, _
  dotted,  // a directive or modifier; text without the dot: global, s32, shared::cta
  integer, // bits holds the value (two's complement where the text had a minus sign handled by the parser)
  float32, // 0f3F800000; bits holds the pattern
  float64, // 0d..., or a decimal literal such as 1.5
  string,  // text without the quotes
  punctuation, // one character
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  char punctuation = 0;
  int line = 0;
  std::string_view text;
  std::uint64_t bits = 0;
};

// The tokens, closed by one of kind `end`; they view `text`. A character or literal that PTX does not have: a
// user error with `origin` and line.
Result<std::vector<Token>> tokenize(std::string_view text, std::string_view origin);

} // namespace assay::ptx
