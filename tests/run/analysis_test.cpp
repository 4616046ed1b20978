// What follows from given evidence about errors where the gate is not valid.
#include "harness/run/analysis.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

// Errors that go as T^slope, `scale` times the legal ones, with a little noise that differs from seed to
// seed.
Evidence evidence(double target_slope, double scale = 1, double bias = 0) {
  Evidence e;
  e.reduces = e.growth_needed = e.explained = true;
  e.dim = "cols";
  e.names = {"sequential", "pairwise"};
  const auto sample = [&](double length, int seed) {
    ErrorSample s;
    s.length = length;
    s.count = 8;
    const double wobble = 1 + 0.05 * ((seed * 7) % 5 - 2);
    const auto fill = [&](ErrorSummary& summary, double size, double mean) {
      summary = {size, 0.7 * size, 1.5 * size, 2 * size, mean, mean};
    };
    const double sign = seed % 2 == 0 ? 1 : -1;
    s.legal.resize(2);
    fill(s.legal[0], 1e-6 * length * wobble, sign * 1e-8);
    fill(s.legal[1], 1e-6 * std::sqrt(length) * wobble, sign * 1e-9);
    const double target = 1e-6 * std::pow(8.0, 1 - target_slope) * std::pow(length, target_slope);
    fill(s.target, scale * target * wobble, sign * 1e-8 + bias);
    return s;
  };
  for (int seed = 0; seed < 16; ++seed) e.at_shape.push_back(sample(8, seed));
  for (const double length : {8.0, 16.0, 32.0, 64.0, 128.0})
    for (int seed = 0; seed < 8; ++seed) e.by_length.push_back(sample(length, seed));
  return e;
}

TEST(Conclude, SameGrowthScaleAndBiasFollowTheLegalOrders) {
  const Analysis analysis = conclude(evidence(1), {});
  EXPECT_EQ(analysis.verdict, Verdict::pass_with_limitations) << analysis.why;
  EXPECT_NEAR(analysis.target.slope, 1, 0.02);
  EXPECT_NEAR(analysis.steepest.slope, 1, 0.02);
  EXPECT_EQ(analysis.steepest_name, "sequential");
  EXPECT_EQ(analysis.legal, 2);
  EXPECT_EQ(analysis.cases, 56);
  ASSERT_EQ(analysis.lengths.size(), 5u);
  EXPECT_EQ(analysis.lengths[4].length, 128);
}

TEST(Conclude, LessGrowthIsNoFault) {
  EXPECT_EQ(conclude(evidence(0.5), {}).verdict, Verdict::pass_with_limitations);
}

TEST(Conclude, SteeperGrowthFails) {
  // At T = 128 the target is 16^0.4 = 3 times the legal one: fudge 4 hides the scale, not the slope.
  Tolerance tolerance;
  tolerance.fudge = 4;
  const Analysis analysis = conclude(evidence(1.4), tolerance);
  EXPECT_EQ(analysis.verdict, Verdict::fail);
  EXPECT_THAT(analysis.why, HasSubstr("grows with cols"));
}

TEST(Conclude, AScaleOfItsOwnFails) {
  const Analysis analysis = conclude(evidence(1, 2.5), {});
  EXPECT_EQ(analysis.verdict, Verdict::fail);
  EXPECT_THAT(analysis.why, HasSubstr("RMS error is above 2 times"));
}

TEST(Conclude, TwiceTheLegalErrorIsNot) {
  EXPECT_EQ(conclude(evidence(1, 1.9), {}).verdict, Verdict::pass_with_limitations);
}

TEST(Conclude, ABiasOfItsOwnFails) {
  const Analysis analysis = conclude(evidence(1, 1, 1e-7), {});
  EXPECT_EQ(analysis.verdict, Verdict::fail);
  EXPECT_THAT(analysis.why, HasSubstr("mean signed error"));
}

TEST(Conclude, BeyondTheRigorousBoundFails) {
  Evidence e = evidence(1);
  e.beyond_bound = true;
  EXPECT_EQ(conclude(e, {}).verdict, Verdict::fail);
}

TEST(Conclude, WithoutEnoughInputsItIsInconclusive) {
  Evidence e = evidence(1);
  e.at_shape.clear();
  e.by_length.clear();
  EXPECT_EQ(conclude(e, {}).verdict, Verdict::inconclusive);
  e = evidence(1);
  e.at_shape.resize(7);
  e.explained = false;
  EXPECT_EQ(conclude(e, {}).verdict, Verdict::inconclusive) << "above every legal evaluation, 7 redraws";
}

TEST(Conclude, GrowthThatCannotBeFittedIsInconclusiveUnlessItIsBounded) {
  Evidence e = evidence(1);
  e.by_length.clear();
  e.no_growth = "cols cannot take five lengths";
  EXPECT_EQ(conclude(e, {}).verdict, Verdict::inconclusive);
  e.growth_needed = false; // the kernel has one length only
  EXPECT_EQ(conclude(e, {}).verdict, Verdict::pass_with_limitations);
  e = evidence(1);
  for (ErrorSample& sample : e.by_length)
    if (sample.length < 100) sample.target = {};
  EXPECT_EQ(conclude(e, {}).verdict, Verdict::pass_with_limitations) << "smaller than legal at every length";
  for (ErrorSample& sample : e.by_length)
    if (sample.length > 100) {
      for (ErrorSummary& legal : sample.legal) legal = {};
      sample.target.rms *= 1.1;
    }
  EXPECT_EQ(conclude(e, {}).verdict, Verdict::inconclusive) << "1.4e-4 at 128, 6.4e-5 legal up to 64";
  for (ErrorSample& sample : e.by_length)
    if (sample.length > 100) sample.target.rms *= 0.8;
  EXPECT_EQ(conclude(e, {}).verdict, Verdict::pass_with_limitations) << "legal sums are exact at 128 by luck";
}

} // namespace
} // namespace assay
