#include "harness/numerics/confirmation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay {
namespace {

// threshold' = 2 * 0.25 + 0.125 + 0 = 0.625; rigorous bound plus floor 4.125.
Suspect suspect(double target_error) {
  return {.fudge = 2,
          .target_error = target_error,
          .envelope_error = 0.25,
          .absolute_floor = 0.125,
          .golden_bound = 0,
          .rigorous_bound = 4};
}

std::vector<double> ratios(int above, int total) {
  std::vector<double> result(static_cast<std::size_t>(total), 1.0); // 1 itself is not above
  for (int i = 0; i < above; ++i) result[static_cast<std::size_t>(i)] = 1.5;
  return result;
}

TEST(confirmation, threshold_and_severity_by_hand) {
  EXPECT_EQ(confirmed_threshold(suspect(1)), 0.625);
  EXPECT_EQ(severity(suspect(2.5)), 4);
  EXPECT_EQ(severity(suspect(0)), 0);
  Suspect with_bound = suspect(1);
  with_bound.golden_bound = 0.0625;
  EXPECT_EQ(confirmed_threshold(with_bound), 0.6875);
  EXPECT_EQ(severity({.target_error = 1}), std::numeric_limits<double>::infinity());
}

TEST(confirmation, lucky_reference) {
  EXPECT_EQ(judge_on_input(suspect(0.625)), Confirmation::not_confirmed);
  EXPECT_EQ(judge_with_redraws(suspect(0.625), ratios(16, 16), 20), Confirmation::not_confirmed);
}

TEST(confirmation, above_what_the_arithmetic_can_do) {
  EXPECT_EQ(judge_on_input(suspect(4.125)), Confirmation::needs_redraws);
  EXPECT_EQ(judge_on_input(suspect(4.126)), Confirmation::finding_at_once);
  EXPECT_EQ(judge_with_redraws(suspect(4.126), {}, 20), Confirmation::finding_at_once);
  Suspect unknown = suspect(1e9);
  unknown.rigorous_bound = std::numeric_limits<double>::infinity();
  EXPECT_EQ(judge_on_input(unknown), Confirmation::needs_redraws);
  unknown.rigorous_bound = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(judge_on_input(unknown), Confirmation::needs_redraws);
}

TEST(confirmation, a_small_element_beyond_its_own_bound) {
  const std::vector<double> golden{1000, 1, 1}, target{1003, 1.5, 1.25};
  const Comparands c{.dtype = DType::f64, .golden = golden, .reference = golden, .target = target};
  // Allowed: 4 + 1/8, 1/4 + 1/8, 1/4 + 1/8; the first is inside though the largest.
  const BeyondBound beyond = beyond_rigorous_bound(c, std::vector<double>{4, 0.25, 0.25}, 0.125);
  EXPECT_EQ(beyond.element, 1);
  EXPECT_EQ(beyond.target_error, 0.5);
  EXPECT_EQ(beyond.rigorous_bound, 0.25);
  EXPECT_EQ(beyond_rigorous_bound(c, std::vector<double>{4, 0.375, 0.125}, 0.125).element,
            -1); // at it is not beyond
  const double unknown = std::numeric_limits<double>::infinity();
  EXPECT_EQ(beyond_rigorous_bound(c, std::vector<double>{unknown, NAN, unknown}, 0.125).element, -1);
}

TEST(confirmation, binomial_tail_by_hand) {
  EXPECT_EQ(binomial_tail(16, 0.3, 0), 1);
  EXPECT_NEAR(binomial_tail(2, 0.5, 1), 0.75, 1e-15);
  EXPECT_NEAR(binomial_tail(4, 0.5, 3), 5.0 / 16, 1e-15);
  EXPECT_NEAR(binomial_tail(3, 0.1, 3), 1e-3, 1e-17);
  EXPECT_EQ(binomial_tail(3, 0.1, 4), 0);
}

// With 19 instruments p = 1/20. P(X >= 8 of 16): 12870 * 0.05^8 * 0.95^8 = 3.3352e-7, 11440 * 0.05^9 * 0.95^7
// = 1.5603e-8, 8008 * 0.05^10 * 0.95^6 = 5.75e-10, 1.7e-11: 3.4972e-7. One less adds 11440 * 0.05^7 * 0.95^9
// = 5.632e-6.
TEST(confirmation, share_that_noise_cannot_explain) {
  EXPECT_NEAR(binomial_tail(16, 0.05, 8), 3.4972e-7, 1e-11);
  EXPECT_NEAR(binomial_tail(16, 0.05, 7), 5.982e-6, 2e-9);
  EXPECT_EQ(exceedances_needed(16, 0.05, 1e-6), 8);
  EXPECT_EQ(judge_with_redraws(suspect(1), ratios(8, 16), 19), Confirmation::finding_by_share);
  EXPECT_EQ(judge_with_redraws(suspect(1), ratios(7, 16), 19), Confirmation::not_confirmed);
}

// 8 redraws: P(X >= 6) = 28 * 0.05^6 * 0.95^2 + 8 * 0.05^7 * 0.95 + 0.05^8 = 4.01e-7; P(X >= 5) = 1.54e-5.
TEST(confirmation, fewer_redraws_need_a_larger_share) {
  EXPECT_NEAR(binomial_tail(8, 0.05, 6), 4.01e-7, 1e-9);
  EXPECT_EQ(exceedances_needed(8, 0.05, 1e-6), 6);
  EXPECT_EQ(judge_with_redraws(suspect(1), ratios(6, 8), 19), Confirmation::finding_by_share);
  EXPECT_EQ(judge_with_redraws(suspect(1), ratios(5, 8), 19), Confirmation::not_confirmed);
  EXPECT_EQ(judge_with_redraws(suspect(1), ratios(7, 7), 19),
            Confirmation::not_confirmed); // only (b) confirms
}

// One instrument, p = 1/2: even 16 of 16 happen once in 65,536.
TEST(confirmation, a_thin_envelope_confirms_nothing_by_share) {
  EXPECT_EQ(exceedances_needed(16, 0.5, 1e-6), 17);
  EXPECT_EQ(judge_with_redraws(suspect(1), ratios(16, 16), 1), Confirmation::not_confirmed);
}

TEST(confirmation, the_false_alarm_rate_holds_for_every_count) {
  for (int n = confirmation_min_redraws; n <= confirmation_redraws; ++n)
    for (int instruments = 1; instruments <= 64; ++instruments) {
      const double p = 1.0 / (instruments + 1);
      const int needed = exceedances_needed(n, p, confirmation_false_alarm);
      if (needed <= n) EXPECT_LE(binomial_tail(n, p, needed), 1e-6);
      EXPECT_GT(binomial_tail(n, p, needed - 1), 1e-6);
    }
}

TEST(confirmation, shrinking_keeps_half_up_to_four) {
  EXPECT_EQ(severity_to_keep(3), 1.5);
  EXPECT_EQ(severity_to_keep(8), 4);
  EXPECT_EQ(severity_to_keep(1e9), 4);
  EXPECT_EQ(severity_to_keep(std::numeric_limits<double>::infinity()), 4);
}

} // namespace
} // namespace assay
