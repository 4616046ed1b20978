#include "harness/device/cpu/ptx/lexer.h"

#include <bit>
#include <charconv>
#include <string>

namespace assay::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 4);
    for (;;) {
      ASSAY_TRY_VOID(skip_blank());
      Token token;
      token.line = line_;
      if (at_ == text_.size()) {
        tokens.push_back(token);
        return tokens;
      }
      ASSAY_TRY_VOID(scan(token));
      tokens.push_back(token);
    }
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Place place() const { return {std::string(origin_), line_, 0}; }

  Result<void> skip_blank() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '/' && peek(1) == '*') {
        const int opened = line_;
        for (at_ += 2; !(peek() == '*' && peek(1) == '/'); ++at_) {
          if (at_ >= text_.size())
            return user_error({std::string(origin_), opened, 0}, "comment never closes");
          if (text_[at_] == '\n') ++line_;
        }
        at_ += 2;
      } else if (c == '\0' && at_ + 1 == text_.size()) {
        ++at_; // NVRTC counts the terminator in its size
      } else {
        return {};
      }
    }
    return {};
  }

  Result<void> scan(Token& token) {
    const char c = peek();
    if (is_name_start(c)) {
      token.kind = TokenKind::name;
      token.text = take_name();
      return {};
    }
    if (c == '.' && is_name_part(peek(1))) {
      ++at_;
      token.kind = TokenKind::dotted;
      token.text = take_dotted();
      return {};
    }
    if (is_digit(c)) return scan_number(token);
    if (c == '"') return scan_string(token);
    if (std::string_view("()[]{}<>,;:|!@+-=*").find(c) != std::string_view::npos) {
      token.kind = TokenKind::punctuation;
      token.punctuation = c;
      token.text = text_.substr(at_++, 1);
      return {};
    }
    if (c >= ' ' && c <= '~') return user_error(place(), "unexpected character '{}'", c);
    return user_error(place(), "unexpected byte 0x{:02x}", static_cast<unsigned char>(c));
  }

  std::string_view take_name() {
    const std::size_t begin = at_++;
    while (is_name_part(peek())) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // A modifier may have parts joined by "::", as in .shared::cta.
  std::string_view take_dotted() {
    const std::size_t begin = at_;
    for (;;) {
      while (is_name_part(peek())) ++at_;
      if (peek() != ':' || peek(1) != ':' || !is_name_part(peek(2))) break;
      at_ += 2;
    }
    return text_.substr(begin, at_ - begin);
  }

  Result<void> scan_string(Token& token) {
    const std::size_t begin = ++at_;
    while (peek() != '"') {
      if (at_ >= text_.size() || peek() == '\n') return user_error(place(), "string never closes");
      at_ += peek() == '\\' && at_ + 1 < text_.size() && peek(1) != '\n' ? 2 : 1;
    }
    token.kind = TokenKind::string;
    token.text = text_.substr(begin, at_++ - begin);
    return {};
  }

  Result<void> scan_number(Token& token) {
    const char second = peek(1);
    if (peek() == '0' && (second == 'f' || second == 'F') && is_hex_digit(peek(2)))
      return scan_pattern(token, TokenKind::float32, 8);
    if (peek() == '0' && (second == 'd' || second == 'D') && is_hex_digit(peek(2)))
      return scan_pattern(token, TokenKind::float64, 16);
    const std::size_t begin = at_;
    if (peek() == '0' && (second == 'x' || second == 'X')) return scan_integer(token, begin, 2, 16);
    if (peek() == '0' && (second == 'b' || second == 'B')) return scan_integer(token, begin, 2, 2);
    std::size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    const char next = end < text_.size() ? text_[end] : '\0';
    if (next == '.' || next == 'e' || next == 'E') return scan_decimal(token);
    return scan_integer(token, begin, 0, peek() == '0' && end > at_ + 1 ? 8 : 10);
  }

  Result<void> scan_pattern(Token& token, TokenKind kind, unsigned digits) {
    const char* first = text_.data() + at_ + 2;
    const char* last = text_.data() + std::min(text_.size(), at_ + 2 + digits);
    const auto [end, error] = std::from_chars(first, last, token.bits, 16);
    if (error != std::errc{} || end != first + digits || is_name_part(peek(2 + digits)))
      return user_error(place(), "a float literal needs {} hexadecimal digits", digits);
    token.kind = kind;
    token.text = text_.substr(at_, 2 + digits);
    at_ += 2 + digits;
    return {};
  }

  Result<void> scan_integer(Token& token, std::size_t begin, std::size_t prefix, int base) {
    const char* limit = text_.data() + text_.size();
    const auto [end, error] = std::from_chars(text_.data() + begin + prefix, limit, token.bits, base);
    if (error != std::errc{}) return user_error(place(), "malformed or too large integer literal");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (peek() == 'U' || peek() == 'u') ++at_;
    if (is_name_part(peek())) return user_error(place(), "malformed integer literal");
    token.kind = TokenKind::integer;
    token.text = text_.substr(begin, at_ - begin);
    return {};
  }

  Result<void> scan_decimal(Token& token) {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{}) return user_error(place(), "malformed float literal");
    const std::size_t begin = at_;
    at_ = static_cast<std::size_t>(end - text_.data());
    if (is_name_part(peek())) return user_error(place(), "malformed float literal");
    token.kind = TokenKind::float64;
    token.text = text_.substr(begin, at_ - begin);
    token.bits = std::bit_cast<std::uint64_t>(value);
    return {};
  }

  std::string_view text_, origin_;
  std::size_t at_ = 0;
  int line_ = 1;
};

} // namespace

Result<std::vector<Token>> tokenize(std::string_view text, std::string_view origin) {
  return Lexer(text, origin).run();
}

} // namespace assay::ptx
