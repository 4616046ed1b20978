#include "harness/numerics/bias.h"
#include "harness/numerics/formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(bias, applies_to_outputs_narrower_than_the_arithmetic) {
  for (const DType type : {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2})
    EXPECT_TRUE(bias_applies(type));
  for (const DType type : {DType::f32, DType::f64, DType::i8}) EXPECT_FALSE(bias_applies(type));
}

TEST(bias, counts_elements_that_round) {
  // 1 is representable, 1e6 saturates f16, infinity and NaN are no numbers; the rest count.
  const std::vector<double> golden{1, 1 + 0x1p-12, 1e6, -1 - 0x1p-12, infinity, NAN};
  const std::vector<double> values{1, 1, infinity, -1, infinity, NAN};
  SignedErrors errors;
  pool(errors, {.dtype = DType::f16, .golden = golden, .reference = values, .target = values}, values);
  EXPECT_EQ(errors.rounding, (std::vector<double>{1 + 0x1p-12, 1 + 0x1p-12}));
  EXPECT_EQ(errors.error, (std::vector<double>{-0.25, -0.25})); // towards zero, 2^-12 of a spacing of 2^-10
}

TEST(bias, what_saturates_does_not_count) {
  const std::vector<double> golden{500, -450, 300}, values{448, -448, 288};
  SignedErrors errors;
  pool(errors, {.dtype = DType::f8e4m3, .golden = golden, .reference = values, .target = values}, values);
  EXPECT_EQ(errors.rounding, (std::vector<double>{300.0 / 256}));
  EXPECT_EQ(errors.error, (std::vector<double>{-0.375})); // 12 of a spacing of 32
}

TEST(bias, what_flushed_terms_may_make_of_it_does_not_count) {
  // 1000 terms of up to 2^-126 each are 2^-16 of 1000 * 2^-110.
  const double least = least_unflushed(1000);
  EXPECT_EQ(least, 1000 * 0x1p-110);
  const std::vector<double> golden{least * 1.001, -0.999 * least}, values{0, 0};
  SignedErrors errors;
  pool(errors, {.dtype = DType::bf16, .golden = golden, .reference = values, .target = values}, values,
       least);
  EXPECT_EQ(errors.rounding, (std::vector<double>{golden[0] * 0x1p101})); // 1000 is 1.95 * 2^9
  EXPECT_EQ(least_unflushed(0), 0);
}

TEST(bias, sign_and_powers_of_two_leave_a_rounding_as_it_is) {
  // All but the last two are 1.1 times a power of two; f16's spacing is the same below 2^-14, and so is no
  // longer what it is to 1.1.
  const std::vector<double> golden{1.1, -2.2, 1.1 * 0x1p-10, -1.1 * 0x1p8, 1.1 * 0x1p-15, 1.1 * 0x1p-16};
  std::vector<double> values;
  for (const double g : golden) values.push_back(round_value(DType::f16, g));
  SignedErrors errors;
  pool(errors, {.dtype = DType::f16, .golden = golden, .reference = values, .target = values}, values);
  EXPECT_EQ(errors.rounding, (std::vector<double>{1.1, 1.1, 1.1, 1.1, 1.1 * 0x1p-15, 1.1 * 0x1p-16}));
  EXPECT_EQ(mean_error(errors).distinct, 3);
}

TEST(bias, only_what_all_legal_evaluations_agree_on_is_decided) {
  const std::vector<double> golden{1.1, 1.2, 1.3}, rounded{1, 2, 3}, same{1, 2, 3}, other{1, 2.5, 3};
  std::vector<std::uint8_t> decided(3, 1);
  keep_decided(rounded, same, decided);
  EXPECT_EQ(decided, (std::vector<std::uint8_t>{1, 1, 1}));
  keep_decided(rounded, other, decided);
  keep_decided(rounded, same, decided);
  EXPECT_EQ(decided, (std::vector<std::uint8_t>{1, 0, 1}));
  SignedErrors errors;
  pool(errors, {.dtype = DType::f16, .golden = golden, .reference = rounded, .target = rounded}, rounded, 0,
       decided);
  EXPECT_EQ(errors.rounding, (std::vector<double>{1.1, 1.3}));
}

TEST(bias, beside_a_tie_nothing_is_decided) {
  // f16 is 2^-10 apart here: 1 + 2^-11 is a tie, and so is 1 + 3 * 2^-11. S of 2^11 reaches 2^-13 far.
  const std::vector<double> golden{1 + 0x1p-11 - 0x1p-14, 1 + 0x1p-11 - 0x1p-12, 1 + 0x3p-11 + 0x1p-14,
                                   1 + 0x1p-11 - 0x1p-14},
      magnitude{0x1p11, 0x1p11, 0x1p11, 1};
  std::vector<double> rounded;
  for (const double g : golden) rounded.push_back(round_value(DType::f16, g));
  const Comparands c{.dtype = DType::f16, .golden = golden, .magnitude = magnitude};
  EXPECT_EQ(decided_roundings(c, rounded), (std::vector<std::uint8_t>{0, 1, 0, 1}));
}

// bf16 times silu(10) = 9.99955: an eighth or a quarter of the products of 8 bits with 10 are ties, which
// that factor puts below them all, so that a store that rounds is off by -0.1 ULP on average; one that
// rounded the factor to 10 before sends half of them up.
TEST(bias, a_constant_factor_beside_a_round_number_accuses_no_one) {
  const double factor = 10 / (1 + std::exp(-10.0));
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> golden, rounded, round_factor;
  for (int i = 0; i < 20000; ++i) {
    const double d = round_value(DType::bf16, normal(random));
    golden.push_back(d * factor);
    rounded.push_back(round_value(DType::bf16, golden.back()));
    round_factor.push_back(round_value(DType::bf16, d * 10));
  }
  const Comparands c{.dtype = DType::bf16, .golden = golden, .reference = round_factor, .target = rounded};
  SignedErrors right, legal;
  pool(right, c, rounded);
  pool(legal, c, round_factor);
  EXPECT_NEAR(mean_error(right).mean, -0.096, 0.01);
  EXPECT_NEAR(mean_error(legal).mean, 0, 0.02);
  EXPECT_EQ(mean_error(right).distinct, 128); // as many as bf16 has mantissas

  std::vector<std::uint8_t> decided(golden.size(), 1);
  keep_decided(rounded, round_factor, decided);
  SignedErrors right_decided;
  pool(right_decided, c, rounded, 0, decided);
  EXPECT_NEAR(static_cast<double>(right_decided.error.size()), 18000, 400);
  EXPECT_NEAR(mean_error(right_decided).mean, -0.052, 0.01);
  EXPECT_FALSE(check_bias(mean_error(right_decided), mean_error(right_decided)).biased);
}

TEST(bias, standard_error_by_hand) {
  // All distinct: s^2 / n with s^2 = ((-1)^2 + 0 + 1^2) / 2 = 1, so sqrt(1/3).
  const MeanError distinct = mean_error({{1, 2, 3}, {0, 1, 2}});
  EXPECT_EQ(distinct.count, 3);
  EXPECT_EQ(distinct.distinct, 3);
  EXPECT_EQ(distinct.mean, 1);
  EXPECT_DOUBLE_EQ(distinct.standard_error, std::sqrt(1.0 / 3));
  // The same three values four times over are no better known.
  const MeanError repeated =
      mean_error({{1, 2, 3, 3, 2, 1, 1, 2, 3, 1, 2, 3}, {0, 1, 2, 2, 1, 0, 0, 1, 2, 0, 1, 2}});
  EXPECT_EQ(repeated.count, 12);
  EXPECT_EQ(repeated.distinct, 3);
  EXPECT_DOUBLE_EQ(repeated.standard_error, std::sqrt(1.0 / 3));
  // Unequal groups: errors {0, 0} at 1 and {3} at 2; mean 1, group sums -2 and 2: sqrt(2/1 * 8) / 3.
  const MeanError unequal = mean_error({{1, 1, 2}, {0, 0, 3}});
  EXPECT_EQ(unequal.distinct, 2);
  EXPECT_DOUBLE_EQ(unequal.standard_error, 4.0 / 3);
  EXPECT_EQ(mean_error({{1, 1}, {0.5, 0.5}}).standard_error, infinity);
  EXPECT_EQ(mean_error({}).standard_error, infinity);
}

MeanError mean_of(double mean, double standard_error = 0.001, std::int64_t count = 4096) {
  return {.count = count, .distinct = count, .mean = mean, .standard_error = standard_error};
}

TEST(bias, rule_at_each_of_its_limits) {
  const auto biased = [](MeanError target, MeanError legal) { return check_bias(target, legal).biased; };
  EXPECT_TRUE(biased(mean_of(-0.5), mean_of(0.01)));
  EXPECT_TRUE(biased(mean_of(0.11), mean_of(0.01)));
  EXPECT_FALSE(biased(mean_of(0.1), mean_of(0.01)));
  EXPECT_FALSE(biased(mean_of(-0.5), mean_of(-0.05))); // what is legal is off as well
  EXPECT_TRUE(biased(mean_of(-0.5), mean_of(-0.049)));
  EXPECT_FALSE(biased(mean_of(-0.5, 0.001, 4095), mean_of(0.01)));
  EXPECT_FALSE(biased(mean_of(-0.5), mean_of(0.01, 0.001, 4095)));
  // Six standard errors: 6 * hypot(0.03, 0.04) = 0.3.
  EXPECT_FALSE(biased(mean_of(0.30, 0.03), mean_of(0, 0.04)));
  EXPECT_TRUE(biased(mean_of(0.301, 0.03), mean_of(0, 0.04)));
  EXPECT_FALSE(biased(mean_of(-0.5, infinity), mean_of(0))); // one distinct value
}

// A store that truncates where the reference rounds.
TEST(bias, a_truncating_store_is_found_and_a_rounding_one_is_not) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  std::vector<double> golden, rounded, truncated;
  for (int i = 0; i < 8192; ++i) {
    golden.push_back(normal(random));
    rounded.push_back(round_value(DType::bf16, golden.back()));
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(golden.back());
    truncated.push_back(std::bit_cast<double>(bits >> 45 << 45));
  }
  SignedErrors of_rounded, of_truncated;
  const Comparands c{.dtype = DType::bf16, .golden = golden, .reference = rounded, .target = truncated};
  pool(of_rounded, c, rounded);
  pool(of_truncated, c, truncated);
  const MeanError right = mean_error(of_rounded), wrong = mean_error(of_truncated);
  EXPECT_NEAR(right.mean, 0, 0.02);
  EXPECT_NEAR(wrong.mean, -0.5, 0.02);
  EXPECT_NEAR(wrong.standard_error, std::sqrt(1.0 / 12 / 8192), 1e-4); // uniform over one ULP
  EXPECT_TRUE(check_bias(wrong, right).biased);
  EXPECT_FALSE(check_bias(right, right).biased);
}

} // namespace
} // namespace assay
