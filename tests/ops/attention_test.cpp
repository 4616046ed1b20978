// Attention whose keys are dealt to parts: what each legal way of merging them makes of inputs worked out by
// hand.
#include "harness/numerics/formats.h"
#include "harness/ops/line.h"
#include "harness/ops/plain.h"
#include "harness/ops/rigorous.h"
#include "tests/ops/problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::testing {
namespace {

Instrument way(std::string_view algorithm, Order order, std::int64_t width) {
  const auto& names = find_op("attention")->info().algorithms;
  Instrument i;
  i.algorithm = static_cast<int>(std::ranges::find(names, algorithm) - names.begin());
  i.order = order, i.width = width;
  return i;
}

// One query of one element, as many keys as v has elements.
struct OneQuery {
  OwnedProblem problem;

  OneQuery(double q, const std::vector<double>& k, const std::vector<double>& v, DType dtype = DType::f32)
      : problem(*find_op("attention"), Pass::forward, dtype,
                {1, 1, 1, static_cast<std::int64_t>(v.size()), 1}) {
    problem.set("q", {q}).set("k", k).set("v", v);
  }
  double by(const Instrument& instrument) const {
    return named(problem.evaluate(instrument), "out").value.front();
  }
};

std::vector<double> joined(std::size_t n, double a, std::size_t m, double b) {
  std::vector<double> values(n, a);
  values.insert(values.end(), m, b);
  return values;
}

TEST(AttentionInParts, ATileMayBeNormalisedBeforeTheNext) {
  // 41 times the float nearest to 1/41 rounds to 1 - 2^-24; with the second tile's -1 that leaves -2^-24 of
  // an exact 0, over 82 keys.
  std::vector<double> v(82, 0);
  v[0] = 1, v[41] = -1;
  const OneQuery sums(0, std::vector<double>(82, 0), v);
  EXPECT_EQ(sums.by(way("online", Order::blocked, 41)), 0);
  EXPECT_EQ(sums.by(way("tiles, normalised", Order::blocked, 41)), -static_cast<double>(0x1p-24F / 82));
  EXPECT_EQ(sums.by(way("tiles, normalised", Order::blocked, 82)), 0) << "one tile";
}

TEST(AttentionInParts, ALaterTileMayRaiseTheMaximum) {
  // exp(-3), 1 and exp(-1), a tile each: v = 2, 4, 8.
  const OneQuery rising(1, {0, 3, 2}, {2, 4, 8});
  const double truth = (2 * std::exp(-3) + 4 + 8 * std::exp(-1)) / (std::exp(-3) + 1 + std::exp(-1));
  for (const char* algorithm : {"tiles, normalised", "splits, normalised", "splits, logsumexp",
                                "tiles, exp2 of a fused multiply-add"})
    for (const std::int64_t tile : {1, 2, 3})
      EXPECT_NEAR(rising.by(way(algorithm, Order::blocked, tile)), truth, 4e-6) << algorithm << " " << tile;
}

TEST(AttentionInParts, ProbabilitiesOfASplitMayBeRounded) {
  // bf16 has 171 * 2^-9 for 1/3: three of them are 513 * 2^-9, times 3 keys 1539 * 2^-9, less 3 over 4 keys.
  const OneQuery thirds(0, {0, 0, 0, 0}, {1, 1, 1, -3}, DType::bf16);
  EXPECT_EQ(thirds.by(way("two_pass", Order::blocked, 3)), 0);
  EXPECT_EQ(thirds.by(way("splits, normalised", Order::blocked, 3)), 3 * 0x1p-11);
}

TEST(AttentionInParts, SplitsMayMeetByTheirLogsumexp) {
  // Floats are 2^-8 apart there: 60000 + log(32) = 60003.46574 is 60003 + 119/256, 60000 + log(9) =
  // 60002.19722 is 60002 + 50/256, and their logsumexp 60003.7125 60003 + 182/256. exp(-63/256),
  // exp(-388/256) in place of 32/41 = 0.7804878 and 9/41.
  const OneQuery first(60000, std::vector<double>(41, 1), joined(32, 1, 9, 0));
  const OneQuery second(60000, std::vector<double>(41, 1), joined(32, 0, 9, 1));
  const Instrument by_logsumexp = way("splits, logsumexp", Order::blocked, 32);
  EXPECT_NEAR(first.by(way("online", Order::blocked, 32)), 0.7804878, 1e-7);
  EXPECT_NEAR(first.by(by_logsumexp), std::exp(-63.0 / 256), 1e-7);
  EXPECT_NEAR(second.by(by_logsumexp), std::exp(-388.0 / 256), 1e-7);
}

TEST(AttentionInParts, PowersOfAFusedProductKeepTheMaximumsRounding) {
  // c, the float nearest to log2(e), is 12102203 * 2^-23. c (2^20 - 1) = 1512773.9323 is 1512773.875 between
  // floats 1/8 apart, c 2^20 is exact: the first tile's weight is 2^0.0573 too large when the second's
  // maximum comes, 2^(0.05730498 - 1.44269502) = 0.3827860.
  const OneQuery late(1, {0x1p20 - 1, 0x1p20}, {0, 1});
  Instrument fused = way("tiles, exp2 of a fused multiply-add", Order::sequential, 1);
  fused.contract = true;
  EXPECT_NEAR(late.by(fused), 1 / (1 + 0.3827860), 1e-6);
  fused.width = 2, fused.order = Order::blocked; // one tile: 2^-1.44269502 against 1
  EXPECT_NEAR(late.by(fused), 0.73105858, 1e-6);
  // Of one key alone nothing is lost but the weight's size.
  const OneQuery alone(1, {-3e8}, {5});
  EXPECT_EQ(alone.by(fused), 5);
}

TEST(AttentionInParts, WeightsByPowersMayBeRounded) {
  // As of exp(-1) in bf16 (legal_test): 0.3671875 over 1.36787944 in place of 0.36787944.
  const OneQuery two(1, {1, 0}, {0, 1}, DType::bf16);
  EXPECT_EQ(two.by(way("tiles, exp2 of a fused multiply-add", Order::blocked, 2)), 138 * 0x1p-9);
  EXPECT_EQ(two.by(way("tiles, exp2 of a fused multiply-add, weights rounded", Order::blocked, 2)),
            137 * 0x1p-9);
}

TEST(AttentionInParts, AMaximumMayStayWhileItGrowsByLessThanEightPowersOfTwo) {
  // exp(5), 7.2 powers of two above the first tile's maximum, is 148.413; of v = (1, 0) is left 1 / 149.413 =
  // 219.31 * 2^-15. Raised, exp(-5) is rounded to 221 * 2^-15, over 1.0067379 219.52 * 2^-15; bf16 has 2^-15.
  const OneQuery growing(1, {0, 5}, {1, 0}, DType::bf16);
  EXPECT_EQ(growing.by(way("tiles, maximum raised lazily, weights rounded", Order::sequential, 1)),
            219 * 0x1p-15);
  for (const char* raised :
       {"online, weights rounded", "tiles, exp2 of a fused multiply-add, weights rounded"})
    EXPECT_EQ(growing.by(way(raised, Order::blocked, 2)), 220 * 0x1p-15) << raised;
  // 8.7 powers of two: raised. exp(-6) rounds to 162.4 -> 162 * 2^-16, over 1.0024788 161.6 * 2^-16; had it
  // stayed, 1 / 404.43 = 162.05 * 2^-16.
  const OneQuery grown(1, {0, 6}, {1, 0}, DType::bf16);
  EXPECT_EQ(grown.by(way("tiles, maximum raised lazily, weights rounded", Order::sequential, 1)),
            grown.by(way("tiles, exp2 of a fused multiply-add, weights rounded", Order::sequential, 1)));
}

bool flagged(double score, DType dtype) {
  const OneQuery query(1, {0, score}, {1, 1}, dtype);
  const auto g = query.problem.evaluate(instrument(Instrument::Number::golden));
  return named(g, "out").formula_overflows.front() != 0;
}

TEST(AttentionInParts, APowerOfWhatAHugeMaximumLeavesMayOverflow) {
  // A product with log2(e) of 2^29 or more is rounded by up to 32, randomly by 64, two of them by 128, and
  // 2^128 overflows; in double from 2^61. f16 ends at 2^16.
  for (const double sign : {1.0, -1.0}) {
    EXPECT_FALSE(flagged(sign * 3.72e8, DType::f32)); // times log2(e): 5.367e8, 2^29 is 5.369e8
    EXPECT_TRUE(flagged(sign * 3.73e8, DType::f32));
    EXPECT_TRUE(flagged(sign * 0x1.8p28, DType::bf16));
    EXPECT_FALSE(flagged(sign * 0x1.6p28, DType::bf16));
    EXPECT_FALSE(flagged(sign * 1.59e18, DType::f64)); // 2.294e18, 2^61 is 2.306e18
    EXPECT_TRUE(flagged(sign * 1.60e18, DType::f64));
  }
  OwnedProblem half(*find_op("attention"), Pass::forward, DType::f16, {1, 1, 1, 1, 1});
  for (const double k : {46.0 * 512, 45.0 * 512}) { // 1024 k log2(e): 3.48e7 and 3.40e7, 2^25 is 3.36e7
    half.set("q", {1024}).set("k", {k}).set("v", {1});
    EXPECT_EQ(named(half.evaluate(golden), "out").formula_overflows.front(), 1) << k;
  }
  half.set("q", {1024}).set("k", {44.0 * 512}); // 3.33e7
  EXPECT_EQ(named(half.evaluate(golden), "out").formula_overflows.front(), 0);
}

// Else it would be an internal fault (run/earned_nan.h).
TEST(AttentionInParts, NoNaNOfFiniteScoresThatAreNotFlagged) {
  int losses = 0, kept = 0;
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
    for (double q = 1; q < 60000; q *= 1.7)
      for (const double k : {1.0, -1.0, 30.0, -990.0, 60000.0, -60000.0}) {
        OwnedProblem p(*find_op("attention"), Pass::forward, dtype, {1, 1, 1, 5, 1});
        p.set("q", {q}).set("k", {k, k, k * 1.01, k * 0.99, k}).set("v", {0, 1, 0, -1, 0});
        const bool excused = named(p.evaluate(golden), "out").formula_overflows.front() != 0;
        std::vector<Instrument> instruments = legal_instruments(p.op, Pass::forward);
        for (int draw = 0; draw < 40; ++draw) {
          Instrument noise = way("", Order::blocked, 1 + draw % 3);
          noise.number = Instrument::Number::noise;
          noise.algorithm = draw % static_cast<int>(p.op.info().algorithms.size());
          noise.seed = static_cast<std::uint64_t>(draw);
          instruments.push_back(noise);
        }
        for (const Instrument& i : instruments) {
          const bool lost = std::isnan(named(p.evaluate(i), "out").value.front());
          ASSERT_TRUE(excused || !lost) << name_of(dtype) << " " << q << " " << k << " " << describe(i);
          (lost ? losses : kept) += 1;
        }
      }
  EXPECT_GT(losses, 10);
  EXPECT_GT(kept, 10000);
}

template <class N> std::int64_t part_of(Order order, std::int64_t width, std::int64_t n) {
  Run<N> run;
  run.instrument.order = order, run.instrument.width = width;
  std::int64_t part = 0;
  run.line([&](auto& line) { part = line.part(n); });
  return part;
}

TEST(AttentionInParts, PartsFollowTheOrder) {
  using Number = Plain<float, false>;
  EXPECT_EQ(part_of<Number>(Order::sequential, 1, 10), 1);
  EXPECT_EQ(part_of<Number>(Order::sequential, 3, 10), 4) << "a permutation: three parts";
  EXPECT_EQ(part_of<Number>(Order::pairwise, 1, 11), 6);
  EXPECT_EQ(part_of<Number>(Order::strided, 4, 10), 3);
  EXPECT_EQ(part_of<Number>(Order::strided, 32, 10), 1);
  EXPECT_EQ(part_of<Number>(Order::blocked, 16, 10), 16);
  EXPECT_EQ(part_of<Number>(Order::pairwise, 1, 0), 1);
  EXPECT_EQ(part_of<Rigorous<float>>(Order::blocked, 16, 10), 1) << "one bound serves every order";
}

// More keys than rigorous_test has, and so more parts.
TEST(AttentionInParts, TheRigorousBoundHolds) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const std::string_view kind : kinds)
      for (const std::int64_t keys : {5, 41}) {
        OwnedProblem p(*find_op("attention"), Pass::forward, dtype, {1, 1, 2, keys, 3});
        p.fill(kind, static_cast<std::uint64_t>(keys));
        const Evaluated g = named(p.evaluate(golden), "out");
        std::vector<Evaluated> bounds;
        for (int a = 0; a < static_cast<int>(p.op.info().algorithms.size()); ++a) {
          Instrument i = rigorous;
          i.algorithm = a;
          bounds.push_back(named(p.evaluate(i), "out"));
        }
        for (const Instrument& i : legal_instruments(p.op, Pass::forward)) {
          const Evaluated got = named(p.evaluate(i), "out");
          const std::vector<double>& bound = bounds[static_cast<std::size_t>(i.algorithm)].bound;
          for (std::size_t e = 0; e < got.value.size(); ++e) {
            if (g.formula_overflows[e] != 0 || !std::isfinite(got.value[e])) continue;
            const double size = std::fabs(g.value[e]) + bound[e];
            const double stored =
                std::ldexp(size, -format_of(dtype).precision) + format_of(dtype).min_subnormal;
            ASSERT_LE(std::fabs(got.value[e] - g.value[e]), bound[e] + g.bound[e] + stored)
                << kind << " " << keys << " keys, " << describe(i) << " [" << e << "]";
          }
        }
      }
}

} // namespace
} // namespace assay::testing
