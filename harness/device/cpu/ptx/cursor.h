// A position in a token list, with the questions that a recursive-descent parser asks.
#pragma once

#include "harness/device/cpu/ptx/lexer.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::ptx {

class Cursor {
 public:
  Cursor(std::vector<Token> tokens, std::string_view origin) : tokens_(std::move(tokens)), origin_(origin) {}

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[at_ + ahead < tokens_.size() ? at_ + ahead : tokens_.size() - 1];
  }
  const Token& take() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool at_end() const { return peek().kind == TokenKind::end; }
  bool is(char punctuation, std::size_t ahead = 0) const {
    const Token& token = peek(ahead);
    return token.kind == TokenKind::punctuation && token.punctuation == punctuation;
  }
  bool is_dotted(std::string_view text, std::size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::dotted && peek(ahead).text == text;
  }
  bool is_name(std::size_t ahead = 0) const { return peek(ahead).kind == TokenKind::name; }
  bool accept(char punctuation) {
    if (!is(punctuation)) return false;
    take();
    return true;
  }
  bool accept_dotted(std::string_view text) {
    if (!is_dotted(text)) return false;
    take();
    return true;
  }

  Place place() const { return {std::string(origin_), peek().line, 0}; }
  std::unexpected<Error> expected(std::string_view what) const {
    if (at_end()) return user_error(place(), "expected {} but the text ends", what);
    return user_error(place(), "expected {} but found '{}'", what, peek().text);
  }
  Result<void> expect(char punctuation) {
    if (accept(punctuation)) return {};
    return expected(std::string("'") + punctuation + "'");
  }
  Result<std::string_view> expect_name(std::string_view what) {
    if (!is_name()) return expected(what);
    return take().text;
  }
  // An integer with an optional minus, as its two's complement bits.
  Result<std::uint64_t> expect_integer(std::string_view what) {
    const bool negative = accept('-');
    if (peek().kind != TokenKind::integer) return expected(what);
    const std::uint64_t bits = take().bits;
    return negative ? std::uint64_t{0} - bits : bits;
  }

 private:
  std::vector<Token> tokens_;
  std::string_view origin_;
  std::size_t at_ = 0;
};

} // namespace assay::ptx
