#include "harness/cases/expression.h"

#include "harness/cases/case_line.h"
#include "harness/cases/names.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <span>

namespace assay {

namespace {

constexpr std::size_t max_length = std::size_t{1} << 14;
constexpr int max_nesting = 48;
constexpr std::size_t max_depth = 256; // values on the stack: a level of nesting leaves at most five waiting

} // namespace

// Recursive descent in C's order of precedence: ?: below == != below < <= > >= below + - below * / % below
// unary -.
class Expression::Parser {
 public:
  Parser(std::string_view text, Expression& out) : text_(text), out_(out) {}

  Result<void> run() {
    out_.steps_.clear();
    ASSAY_TRY_VOID(choice());
    if (!at_end()) return unexpected("an operator or the end");
    return {};
  }

 private:
  struct Nesting {
    explicit Nesting(int& value) : level(value) { ++level; }
    ~Nesting() { --level; }
    int& level;
  };

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  bool accept(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  template <class... Args>
  std::unexpected<Error> error(std::size_t at, fmt::format_string<Args...> format, Args&&... args) const {
    return user_error(out_.place_, "expression \"{}\", column {}: {}", case_line::shown(text_), at + 1,
                      fmt::format(format, std::forward<Args>(args)...));
  }
  std::unexpected<Error> unexpected(std::string_view wanted) {
    if (at_end()) return error(at_, "ends where {} was expected", wanted);
    return error(at_, "'{}' where {} was expected", text_[at_], wanted);
  }
  void emit(Code code, std::int64_t operand = 0) { out_.steps_.push_back({code, operand}); }

  Result<void> choice() {
    const Nesting nesting(nesting_);
    if (nesting_ > max_nesting) return error(at_, "is nested more than {} deep", max_nesting);
    ASSAY_TRY_VOID(equality());
    if (!accept("?")) return {};
    const std::size_t branch = out_.steps_.size();
    emit(Code::jump_if_zero);
    ASSAY_TRY_VOID(choice());
    if (!accept(":")) return unexpected("':'");
    const std::size_t end = out_.steps_.size();
    emit(Code::jump);
    out_.steps_[branch].operand = static_cast<std::int64_t>(out_.steps_.size());
    ASSAY_TRY_VOID(choice());
    out_.steps_[end].operand = static_cast<std::int64_t>(out_.steps_.size());
    return {};
  }

  struct Operator {
    std::string_view token;
    Code code;
  };
  template <class Next> Result<void> chain(std::span<const Operator> operators, Next next) {
    ASSAY_TRY_VOID(next());
    for (;;) {
      const auto found = std::ranges::find_if(operators, [&](const Operator& o) { return accept(o.token); });
      if (found == operators.end()) return {};
      ASSAY_TRY_VOID(next());
      emit(found->code);
    }
  }

  Result<void> equality() {
    static constexpr Operator operators[] = {{"==", Code::equal}, {"!=", Code::not_equal}};
    return chain(operators, [this] { return comparison(); });
  }
  Result<void> comparison() {
    static constexpr Operator operators[] = {
        {"<=", Code::less_equal}, {"<", Code::less}, {">=", Code::greater_equal}, {">", Code::greater}};
    return chain(operators, [this] { return sum(); });
  }
  Result<void> sum() {
    static constexpr Operator operators[] = {{"+", Code::add}, {"-", Code::subtract}};
    return chain(operators, [this] { return product(); });
  }
  Result<void> product() {
    static constexpr Operator operators[] = {{"*", Code::multiply}, {"/", Code::divide}, {"%", Code::modulo}};
    return chain(operators, [this] { return unary(); });
  }
  Result<void> unary() {
    std::size_t minuses = 0;
    while (accept("-")) ++minuses;
    ASSAY_TRY_VOID(primary());
    for (; minuses > 0; --minuses) emit(Code::negate);
    return {};
  }

  Result<void> primary() {
    if (accept("(")) {
      ASSAY_TRY_VOID(choice());
      if (!accept(")")) return unexpected("')'");
      return {};
    }
    skip_blanks();
    if (at_ < text_.size() && is_digit(text_[at_])) return number();
    if (at_ < text_.size() && is_letter(text_[at_])) return name();
    return unexpected("a number, a name or '('");
  }

  Result<void> number() {
    const std::size_t start = at_;
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (failure != std::errc()) return error(start, "a number larger than 2^63-1");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && (is_letter(text_[at_]) || text_[at_] == '.'))
      return error(at_, "'{}' inside a number; only integers are allowed", text_[at_]);
    emit(Code::constant, value);
    return {};
  }

  Result<void> name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    if (accept("(")) return call(word, start);
    auto found = std::ranges::find(out_.names_, word);
    if (found == out_.names_.end()) found = out_.names_.insert(out_.names_.end(), std::string(word));
    emit(Code::name, found - out_.names_.begin());
    return {};
  }

  Result<void> call(std::string_view word, std::size_t start) {
    struct Function {
      std::string_view name;
      Code code;
      int arguments;
    };
    static constexpr Function functions[] = {{"ceil_div", Code::ceil_div, 2},
                                             {"next_pow2", Code::next_pow2, 1},
                                             {"min", Code::min, 2},
                                             {"max", Code::max, 2}};
    const auto* function = std::ranges::find(functions, word, &Function::name);
    if (function == std::end(functions))
      return error(start, "unknown function \"{}\"; there are ceil_div, next_pow2, min and max", word);
    for (int i = 0; i < function->arguments; ++i) {
      if (i > 0 && !accept(",")) return unexpected("','");
      ASSAY_TRY_VOID(choice());
    }
    if (!accept(")")) return unexpected("')'");
    emit(function->code);
    return {};
  }

  std::string_view text_;
  Expression& out_;
  std::size_t at_ = 0;
  int nesting_ = 0;
};

Result<Expression> Expression::parse(std::string_view text, Place place) {
  Expression result;
  result.place_ = std::move(place);
  if (text.size() > max_length)
    return user_error(result.place_, "an expression of {} letters; at most {} are allowed", text.size(),
                      max_length);
  for (const char c : text)
    if (c < ' ' && c != '\t')
      return user_error(result.place_, "an expression with a control character in it");
  result.text_ = text;
  Parser parser(text, result);
  ASSAY_TRY_VOID(parser.run());
  return result;
}

namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

} // namespace

Result<std::int64_t> Expression::evaluate(const Scope& scope) const {
  std::array<std::int64_t, max_depth> stack;
  std::size_t depth = 0;
  const auto overflow = [&] {
    return user_error(place_, "expression \"{}\" overflows 64 bits", case_line::shown(text_));
  };
  for (std::size_t at = 0; at < steps_.size(); ++at) {
    const auto [code, operand] = steps_[at];
    switch (code) {
    case Code::constant:
      stack[depth++] = operand;
      continue;
    case Code::name: {
      const std::string& name = names_[static_cast<std::size_t>(operand)];
      const std::optional<std::int64_t> value = scope(name);
      if (!value)
        return user_error(place_, "expression \"{}\": unknown name \"{}\"", case_line::shown(text_), name);
      stack[depth++] = *value;
      continue;
    }
    case Code::jump:
      at = static_cast<std::size_t>(operand) - 1;
      continue;
    case Code::jump_if_zero:
      if (stack[--depth] == 0) at = static_cast<std::size_t>(operand) - 1;
      continue;
    case Code::negate:
      if (__builtin_sub_overflow(std::int64_t{0}, stack[depth - 1], &stack[depth - 1])) return overflow();
      continue;
    case Code::next_pow2: {
      const std::int64_t value = stack[depth - 1];
      if (value > (std::int64_t{1} << 62)) return overflow();
      stack[depth - 1] =
          value <= 1 ? 1 : static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value)));
      continue;
    }
    default:
      break;
    }
    const std::int64_t b = stack[--depth];
    std::int64_t& a = stack[depth - 1];
    switch (code) {
    case Code::add:
      if (__builtin_add_overflow(a, b, &a)) return overflow();
      break;
    case Code::subtract:
      if (__builtin_sub_overflow(a, b, &a)) return overflow();
      break;
    case Code::multiply:
      if (__builtin_mul_overflow(a, b, &a)) return overflow();
      break;
    case Code::divide:
    case Code::modulo:
    case Code::ceil_div: {
      if (b == 0) return user_error(place_, "expression \"{}\" divides by zero", case_line::shown(text_));
      if (a == lowest && b == -1) return overflow();
      const bool inexact = a % b != 0;
      const bool below = inexact && (a < 0) != (b < 0); // C rounds up here
      if (code == Code::modulo)
        a = a % b + (below ? b : 0);
      else
        a = a / b - (below ? 1 : 0) + (code == Code::ceil_div && inexact ? 1 : 0);
      break;
    }
    case Code::less:
      a = a < b;
      break;
    case Code::less_equal:
      a = a <= b;
      break;
    case Code::greater:
      a = a > b;
      break;
    case Code::greater_equal:
      a = a >= b;
      break;
    case Code::equal:
      a = a == b;
      break;
    case Code::not_equal:
      a = a != b;
      break;
    case Code::min:
      a = std::min(a, b);
      break;
    case Code::max:
      a = std::max(a, b);
      break;
    default:
      break;
    }
  }
  return stack[0];
}

const std::string& Expression::text() const { return text_; }
const Place& Expression::place() const { return place_; }
const std::vector<std::string>& Expression::names() const { return names_; }

} // namespace assay
