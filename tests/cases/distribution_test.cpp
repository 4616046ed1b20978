#include "harness/cases/distribution.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace assay {
namespace {

std::string error_of(std::string_view text) {
  const auto parsed = parse_distribution(text, {"a.case", 4});
  return parsed ? "" : to_string(parsed.error());
}

TEST(Distributions, the_table_is_in_order_and_its_defaults_are_legal) {
  std::set<std::string_view> names;
  for (const DistributionRule& rule : distribution_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_EQ(find_distribution(rule.name), &rule_of(rule.kind));
    EXPECT_TRUE(check_distribution(make_distribution(rule.kind), {}).has_value()) << rule.name;
  }
  EXPECT_LT(static_cast<int>(DistributionKind::zero), static_cast<int>(DistributionKind::constant));
  EXPECT_EQ(find_distribution("gaussian"), nullptr);
}

TEST(Distributions, text_and_back) {
  for (const DistributionRule& rule : distribution_rules()) {
    const Distribution d = make_distribution(rule.kind);
    const auto back = parse_distribution(to_text(d), {});
    ASSERT_TRUE(back.has_value()) << to_text(d);
    EXPECT_EQ(*back, d);
  }
  EXPECT_EQ(to_text(make_distribution(DistributionKind::normal)), "normal(mean=0, stddev=1)");
  EXPECT_EQ(to_text(make_distribution(DistributionKind::zero)), "zero()");
  const double values[] = {0.1, 1e-30};
  const Distribution odd = make_distribution(DistributionKind::normal, values);
  EXPECT_EQ(to_text(odd), "normal(mean=0.1, stddev=1e-30)");
  EXPECT_EQ(*parse_distribution(to_text(odd), {}), odd);
}

TEST(Distributions, parameters_may_be_left_out) {
  EXPECT_EQ(to_text(*parse_distribution(" normal ( stddev = 3 ) ", {})), "normal(mean=0, stddev=3)");
  EXPECT_EQ(to_text(*parse_distribution("normal()", {})), "normal(mean=0, stddev=1)");
}

TEST(Distributions, errors) {
  EXPECT_EQ(error_of("normal"),
            "a.case:4: \"normal\" where a distribution such as normal(mean=0, stddev=1) was expected");
  EXPECT_EQ(error_of(""),
            "a.case:4: \"\" where a distribution such as normal(mean=0, stddev=1) was expected");
  EXPECT_TRUE(error_of("gaussian()")
                  .starts_with("a.case:4: unknown distribution \"gaussian\"; there are zero, constant,"));
  EXPECT_EQ(error_of("normal(sigma=1)"),
            "a.case:4: normal: \"sigma=1\" is out of place; its parameters are (mean, stddev)");
  EXPECT_EQ(error_of("normal(stddev=1, mean=0)"),
            "a.case:4: normal: \"mean=0\" is out of place; its parameters are (mean, stddev)");
  EXPECT_EQ(error_of("normal(mean=1, mean=2)"),
            "a.case:4: normal: \"mean=2\" is out of place; its parameters are (mean, stddev)");
  EXPECT_EQ(error_of("normal(mean=x)"), "a.case:4: normal: mean = \"x\" is not a number");
  EXPECT_EQ(error_of("normal(mean=1,)"), "a.case:4: normal: a parameter is missing after the last comma");
  EXPECT_EQ(error_of("normal(stddev=-1)"),
            "a.case:4: normal: stddev = -1 must be from 0 to 1.7014118346046923e+38");
  EXPECT_EQ(error_of("one_hot(place=1.5)"), "a.case:4: one_hot: place = 1.5 must be from 0 to 1");
  EXPECT_EQ(error_of("uniform(low=2, high=1)"), "a.case:4: uniform: low = 2 is larger than high = 1");
  EXPECT_EQ(error_of("wide(low=0.5)"), "a.case:4: wide: low = 0.5 must be an integer");
  EXPECT_NE(error_of("normal(mean=nan)"), "");
  EXPECT_NE(error_of("normal(mean=inf)"), "");
  EXPECT_NE(error_of("normal(mean=1e999)"), "");
  EXPECT_NE(error_of("normal(mean)"), "");
  EXPECT_NE(error_of("zero(value=1)"), "");
  EXPECT_NE(error_of("normal)("), "");
}

TEST(Distributions, checking_one_made_by_hand) {
  EXPECT_FALSE(check_distribution({"normal", {}}, {}).has_value());
  EXPECT_FALSE(check_distribution({"normal", {{"stddev", 1}, {"mean", 0}}}, {}).has_value());
  EXPECT_FALSE(check_distribution({"constant", {{"value", std::numeric_limits<double>::quiet_NaN()}}}, {})
                   .has_value());
}

} // namespace
} // namespace assay
