#include "harness/numerics/causes.h"

#include <gtest/gtest.h>

#include <limits>

namespace assay {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Causes, TheStrongestEvidenceOfEachIsRankedAndEqualOnesStandInTheMethodsOrder) {
  const std::vector<CauseEvidence> evidence{
      {Cause::backward_formula, 0.5, "a"},  {Cause::premature_cast, 0.9, "b"},
      {Cause::accumulation_type, 0.9, "c"}, {Cause::premature_cast, 0.2, "d"},
      {Cause::indexing, 0.1, "e"},          {Cause::reduction_order, 0, "f"}};
  const auto named = ranked(evidence);
  ASSERT_EQ(named.size(), 3u);
  EXPECT_EQ(named[0].evidence, "c");
  EXPECT_EQ(named[1].evidence, "b");
  EXPECT_EQ(named[2].evidence, "a");
  const auto rest = cleared(evidence);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].evidence, "e");
  EXPECT_EQ(rest[1].evidence, "f");
}

TEST(Causes, NothingIsNamedWithoutEvidence) {
  EXPECT_TRUE(ranked({}).empty());
  EXPECT_TRUE(ranked(std::vector<CauseEvidence>{{Cause::indexing, least_score - 0.01, "weak"}}).empty());
}

struct Numbers {
  std::vector<double> golden, reference, target, magnitude;
  Comparands comparands() const {
    Comparands c;
    c.dtype = DType::f32;
    c.golden = golden;
    c.reference = reference;
    c.target = target;
    c.magnitude = magnitude;
    return c;
  }
};

// Errors of 0.5 and 0.25 in units of S = 2 and 4 at the two wrong elements; the third is right.
const Numbers some{{1, 2, 3}, {1, 2, 3}, {2, 3, 3}, {2, 4, 4}};

TEST(Likeness, OfTheTargetsOwnValuesIsWholeButForChance) {
  const Likeness likeness_of = likeness(some.comparands(), some.target);
  EXPECT_EQ(likeness_of.telling, 2);
  EXPECT_EQ(likeness_of.same, 2);
  EXPECT_EQ(likeness_of.target_square, 0.25 + 0.0625);
  EXPECT_EQ(likeness_of.rest_square, 0);
  EXPECT_EQ(likeness_of.size_ratio(), 1);
  EXPECT_EQ(likeness_of.share(), 0.5) << "1 - 2^(1 - n): two elements";
}

TEST(Likeness, OfTheGoldenIsNothing) {
  const Likeness likeness_of = likeness(some.comparands(), some.golden);
  EXPECT_EQ(likeness_of.same, 0);
  EXPECT_EQ(likeness_of.share(), 0);
  EXPECT_EQ(likeness_of.size_ratio(), 0);
}

TEST(Likeness, HalfWayAccountsForThreeQuartersOfTheSquares) {
  const std::vector<double> half{1.5, 2.5, 3};
  EXPECT_EQ(likeness(some.comparands(), half).share(), 0.75 * 0.5);
}

TEST(Likeness, NaNAndInfinitiesCountByPlace) {
  const Numbers overflowing{{1, 2, 3}, {1, 2, 3}, {nan, 2, infinity}, {1, 2, 3}};
  EXPECT_EQ(likeness(overflowing.comparands(), std::vector<double>{nan, 2, infinity}).share(), 0.5);
  const Likeness elsewhere = likeness(overflowing.comparands(), std::vector<double>{1, infinity, -infinity});
  EXPECT_EQ(elsewhere.same, 0);
  EXPECT_EQ(elsewhere.misplaced, 2);
  EXPECT_EQ(elsewhere.share(), 0);
}

TEST(Likeness, WhatASuspectForetellsWhereTheTargetIsRightRefutesIt) {
  EXPECT_EQ(likeness(some.comparands(), std::vector<double>{2, 3, 4}).share(), 0) << "all that was foretold";
  const Numbers more{{1, 2, 3, 4}, {1, 2, 3, 4}, {2, 3, 3, 4}, {2, 4, 4, 4}};
  const Likeness half = likeness(more.comparands(), std::vector<double>{2, 3, 4, 4});
  EXPECT_EQ(half.foretold, 1);
  EXPECT_EQ(half.foretold_of, 2);
  EXPECT_EQ(half.share(), 0.25);
  EXPECT_EQ(likeness(some.comparands(), std::vector<double>{2, 3, nan}).misplaced, 1);
}

TEST(Likeness, OneElementSaysNothing) {
  const Numbers one{{1}, {1}, {2}, {1}};
  EXPECT_EQ(likeness(one.comparands(), one.target).share(), 0);
}

TEST(Likeness, WhatAnotherOrderOfSummingMayDoTellsNothing) {
  const double nearly = 1 + 15 * 0x1p-24; // 15 roundings of S = 1, and the output's own spacing of 2^-23
  const Numbers same_order{{1, 1}, {1, 1}, {nearly, nearly}, {1, 1}};
  EXPECT_EQ(likeness(same_order.comparands(), same_order.target).telling, 0);
}

TEST(Likeness, Adds) {
  Likeness twice = likeness(some.comparands(), some.target);
  twice.add(twice);
  EXPECT_EQ(twice.telling, 4);
  EXPECT_EQ(twice.share(), 1 - 1.0 / 8);
}

} // namespace
} // namespace assay
