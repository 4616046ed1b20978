#include "harness/cases/expression.h"

#include <gtest/gtest.h>

#include <map>

namespace assay {
namespace {

const Scope no_names = [](std::string_view) { return std::optional<std::int64_t>(); };

std::int64_t value_of(std::string_view text,
                      const std::map<std::string, std::int64_t, std::less<>>& names = {}) {
  const auto expression = Expression::parse(text, {});
  EXPECT_TRUE(expression.has_value()) << text << ": " << (expression ? "" : expression.error().message);
  if (!expression) return -999;
  const auto value = expression->evaluate([&](std::string_view name) {
    const auto found = names.find(name);
    return found == names.end() ? std::nullopt : std::optional(found->second);
  });
  EXPECT_TRUE(value.has_value()) << text << ": " << (value ? "" : value.error().message);
  return value.value_or(-999);
}

std::string parse_error(std::string_view text) {
  const auto expression = Expression::parse(text, {"k.toml", 3, 7});
  return expression ? "" : to_string(expression.error());
}

std::string evaluation_error(std::string_view text) {
  const auto expression = Expression::parse(text, {"k.toml", 3, 7});
  EXPECT_TRUE(expression.has_value());
  const auto value = expression->evaluate(no_names);
  return value ? "" : to_string(value.error());
}

TEST(Expression, precedence_is_that_of_c) {
  EXPECT_EQ(value_of("2 + 3 * 4"), 14);
  EXPECT_EQ(value_of("(2 + 3) * 4"), 20);
  EXPECT_EQ(value_of("10 - 4 - 3"), 3);
  EXPECT_EQ(value_of("100 / 10 / 5"), 2);
  EXPECT_EQ(value_of("1 + 1 < 3"), 1);
  EXPECT_EQ(value_of("1 < 2 == 1"), 1);
  EXPECT_EQ(value_of("-2 * -3"), 6);
  EXPECT_EQ(value_of("--5"), 5);
  EXPECT_EQ(value_of("1 ? 0 ? 10 : 20 : 30"), 20);
  EXPECT_EQ(value_of("0 ? 10 : 0 ? 20 : 30"), 30);
}

TEST(Expression, division_rounds_down_and_the_remainder_fits_it) {
  for (std::int64_t a = -20; a <= 20; ++a)
    for (const std::int64_t b : {-7, -3, -1, 1, 3, 7}) {
      const std::map<std::string, std::int64_t, std::less<>> names{{"a", a}, {"b", b}};
      const std::int64_t quotient = value_of("a / b", names), remainder = value_of("a % b", names);
      EXPECT_EQ(quotient * b + remainder, a);
      EXPECT_TRUE(remainder == 0 || (remainder < 0) == (b < 0)) << a << " % " << b;
      EXPECT_LT(std::abs(remainder), std::abs(b));
    }
  EXPECT_EQ(value_of("-7 / 2"), -4);
  EXPECT_EQ(value_of("-7 % 2"), 1);
  EXPECT_EQ(value_of("(-9223372036854775807 - 1) % 3"), 1); // -2^63 = 3 * -3074457345618258603 + 1
}

TEST(Expression, functions) {
  EXPECT_EQ(value_of("ceil_div(7, 2)"), 4);
  EXPECT_EQ(value_of("ceil_div(8, 2)"), 4);
  EXPECT_EQ(value_of("ceil_div(-7, 2)"), -3);
  EXPECT_EQ(value_of("ceil_div(0, 32)"), 0);
  EXPECT_EQ(value_of("next_pow2(0)"), 1);
  EXPECT_EQ(value_of("next_pow2(1)"), 1);
  EXPECT_EQ(value_of("next_pow2(257)"), 512);
  EXPECT_EQ(value_of("next_pow2(4611686018427387904)"), 4611686018427387904);
  EXPECT_EQ(value_of("min(1024, next_pow2(cols))", {{"cols", 300}}), 512);
  EXPECT_EQ(value_of("max(min(3, 5), -2)"), 3);
}

TEST(Expression, integers_are_exact_above_2_to_53) {
  EXPECT_EQ(value_of("9007199254740993 + 0"), 9007199254740993);
  EXPECT_EQ(value_of("9223372036854775807 - 1"), 9223372036854775806);
  EXPECT_EQ(value_of("a % 10", {{"a", 9223372036854775807}}), 7);
}

TEST(Expression, the_branch_not_taken_is_not_evaluated) {
  EXPECT_EQ(value_of("n == 0 ? 0 : 100 / n", {{"n", 0}}), 0);
  EXPECT_EQ(value_of("n == 0 ? 0 : 100 / n", {{"n", 7}}), 14);
}

TEST(Expression, names_are_told_once) {
  const auto expression = Expression::parse("rows * cols + rows", {});
  ASSERT_TRUE(expression);
  EXPECT_EQ(expression->names(), (std::vector<std::string>{"rows", "cols"}));
}

TEST(Expression, evaluation_errors_name_the_place) {
  EXPECT_EQ(evaluation_error("1 / 0"), "k.toml:3:7: expression \"1 / 0\" divides by zero");
  EXPECT_EQ(evaluation_error("5 % (3 - 3)"), "k.toml:3:7: expression \"5 % (3 - 3)\" divides by zero");
  EXPECT_EQ(evaluation_error("ceil_div(1, 0)"), "k.toml:3:7: expression \"ceil_div(1, 0)\" divides by zero");
  EXPECT_EQ(evaluation_error("rows"), "k.toml:3:7: expression \"rows\": unknown name \"rows\"");
  for (const char* text : {"9223372036854775807 + 1", "4611686018427387904 * 2", "-9223372036854775807 - 2",
                           "next_pow2(4611686018427387905)", "(-9223372036854775807 - 1) / -1",
                           "(-9223372036854775807 - 1) % -1", "-(-9223372036854775807 - 1)"})
    EXPECT_NE(evaluation_error(text).find("overflows 64 bits"), std::string::npos) << text;
}

TEST(Expression, syntax_errors_name_the_column) {
  EXPECT_EQ(parse_error(""),
            "k.toml:3:7: expression \"\", column 1: ends where a number, a name or '(' was expected");
  EXPECT_EQ(parse_error("1 +"),
            "k.toml:3:7: expression \"1 +\", column 4: ends where a number, a name or '(' was expected");
  EXPECT_EQ(parse_error("1 2"),
            "k.toml:3:7: expression \"1 2\", column 3: '2' where an operator or the end was expected");
  EXPECT_EQ(parse_error("(1"), "k.toml:3:7: expression \"(1\", column 3: ends where ')' was expected");
  EXPECT_EQ(parse_error("a ? b"), "k.toml:3:7: expression \"a ? b\", column 6: ends where ':' was expected");
  EXPECT_EQ(parse_error("1.5"),
            "k.toml:3:7: expression \"1.5\", column 2: '.' inside a number; only integers are allowed");
  EXPECT_EQ(parse_error("log(3)"),
            "k.toml:3:7: expression \"log(3)\", column 1: unknown function \"log\"; there are "
            "ceil_div, next_pow2, min and max");
  EXPECT_EQ(parse_error("min(1)"), "k.toml:3:7: expression \"min(1)\", column 6: ')' where ',' was expected");
  EXPECT_EQ(parse_error("9223372036854775808"),
            "k.toml:3:7: expression \"9223372036854775808\", column 1: a number larger than 2^63-1");
  EXPECT_NE(parse_error("a = b"), "");
  EXPECT_NE(parse_error("a && b"), "");
  EXPECT_NE(parse_error("1 << 3"), "");
}

TEST(Expression, depth_and_length_are_bounded) {
  EXPECT_NE(parse_error(std::string(2000, '(') + "1" + std::string(2000, ')')).find("nested more than"),
            std::string::npos);
  EXPECT_NE(parse_error(std::string(20000, '1')).find("20000 letters"), std::string::npos);
  EXPECT_EQ(value_of(std::string(10000, '-') + "1"), 1);
  std::string wide = "1";
  for (int i = 0; i < 4000; ++i) wide += "+1";
  EXPECT_EQ(value_of(wide), 4001);
  // The deepest that parses, with every level of precedence waiting at each level, must fit the evaluation's
  // stack.
  std::string deep = "1";
  for (int i = 0; i < 46; ++i) deep = "0 == 0 < 0 + 1 * (" + deep + ")";
  const auto expression = Expression::parse(deep, {});
  ASSERT_TRUE(expression.has_value());
  EXPECT_TRUE(expression->evaluate(no_names).has_value());
}

} // namespace
} // namespace assay
