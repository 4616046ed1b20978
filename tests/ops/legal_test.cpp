// What right kernels do beside the plain formula: each is a legal evaluation, or the formula says that it
// overflows there.
#include "harness/ops/golden.h"
#include "harness/ops/perturbed.h"
#include "harness/ops/rigorous.h"
#include "tests/ops/problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace assay::testing {
namespace {

int algorithm_named(const Op& op, Pass pass, std::string_view name) {
  const auto& names = pass == Pass::forward ? op.info().algorithms : op.info().backward_algorithms;
  return static_cast<int>(std::ranges::find(names, name) - names.begin());
}

double first(const OwnedProblem& problem, std::string_view output, std::string_view algorithm) {
  Instrument plain;
  plain.algorithm = algorithm_named(problem.op, problem.problem.pass, algorithm);
  return named(problem.evaluate(plain), output).value.front();
}

OwnedProblem row_of(const char* op, const std::vector<double>& x, DType dtype = DType::f32) {
  OwnedProblem problem(*find_op(op), Pass::forward, dtype, {1, static_cast<std::int64_t>(x.size())});
  problem.set("x", x);
  return problem;
}

TEST(Legal, WelfordMergesWithThreadsThatHadNoElement) {
  // Mean 7/3, squares 16/9 + 1/9 + 25/9 = 42/9: nothing changes.
  EXPECT_NEAR(first(row_of("variance", {1, 2, 4}), "y", "welford"), 14.0 / 9, 1e-6);
  // 1e20 squared is infinite, and infinity times no elements NaN.
  EXPECT_TRUE(std::isnan(first(row_of("variance", {1e20}), "y", "welford")));
  EXPECT_EQ(first(row_of("variance", {1e20}), "y", "two_pass"), 0);
  // So is 2e19 squared, 4e38, where 1e19 on either side of the mean is not.
  EXPECT_NEAR(first(row_of("variance", {0, 2e19}), "y", "two_pass") / 1e38, 1, 1e-6);
  for (const char* algorithm : {"welford", "welford_by_updates", "welford_weighted"})
    EXPECT_TRUE(std::isnan(first(row_of("variance", {0, 2e19}), "y", algorithm))) << algorithm;
}

// Where threads had 2 and 1 of three elements: the float nearest to 1/3, times 7, rounds up to t, a third of
// 7 + 2^-21; the one nearest to 2/3 is twice as large. Where a thread without elements merges: 41 times the
// float nearest to 1/41 rounds to 1 - 2^-24, while 3 times that to 1/3 is 1. No square sees it.
TEST(Legal, WelfordsMeansMayMeetAsAWeightedAverage) {
  const auto moments_of = [](const std::vector<double>& x, std::string_view algorithm, Order order) {
    OwnedProblem norm = row_of("layernorm", x);
    norm.fill("zero", 1).set("x", x);
    Instrument plain;
    plain.algorithm = algorithm_named(norm.op, Pass::forward, algorithm);
    plain.order = order, plain.width = 2;
    const std::vector<Evaluated> got = norm.evaluate(plain);
    EXPECT_NEAR(named(got, "rstd").value.front(), 316.22777, 1e-4) << algorithm;
    return named(got, "mean").value.front();
  };
  const std::vector<double> sevens(3, 7), ones(41, 1);
  for (const char* merge : {"two_pass", "welford", "welford_by_updates", "welford, weight_first"})
    for (const Order order : {Order::sequential, Order::strided}) {
      EXPECT_EQ(moments_of(sevens, merge, order), 7) << merge;
      EXPECT_EQ(moments_of(ones, merge, order), 1) << merge;
    }
  for (const char* merge : {"welford_weighted", "welford_weighted, weight_first"}) {
    EXPECT_EQ(moments_of(sevens, merge, Order::strided), 7 + 0x1p-21) << merge;
    EXPECT_EQ(moments_of(sevens, merge, Order::sequential), 7) << merge;
    EXPECT_EQ(moments_of(ones, merge, Order::sequential), 1 - 0x1p-24) << merge;
  }
  OwnedProblem spread = row_of("variance", {1, 5, 3, 7, 9});
  Instrument weighted;
  weighted.algorithm = algorithm_named(spread.op, Pass::forward, "welford_weighted");
  weighted.order = Order::blocked, weighted.width = 2;
  // Blocks of 1, 5 and 3, 7 and 9 have means 3, 5, 9 and squares 8, 8, 0; 4 * 2 * 2 / 4 between the first
  // two, and of mean 4 with the third 25 * 4 * 1 / 5: 40 in all.
  EXPECT_NEAR(named(spread.evaluate(weighted), "y").value.front(), 8, 1e-5);
}

// Of two equal scores with gradients 3 and 0 (in steps of the smallest subnormal) half of 3 rounds to 2,
// which is the sum too. 3 - 2 halved rounds to 0; 2 less half of 2 is 1.
TEST(Legal, SoftmaxesGradientMayBeADifferenceOfProducts) {
  OwnedProblem problem(*find_op("softmax"), Pass::backward, DType::f32, {1, 2});
  problem.set("x", {1, 1}).set("grad_y", {0x3p-149, 0});
  EXPECT_EQ(first(problem, "grad_x", "stored"), 0);
  EXPECT_EQ(first(problem, "grad_x", "recomputed"), 0);
  EXPECT_EQ(first(problem, "grad_x", "stored, distributed"), 0x1p-149);
  EXPECT_EQ(first(problem, "grad_x", "recomputed, distributed"), 0x1p-149);
}

// At 65500 floats are 2^-8 apart: log(2) = 177.45 * 2^-8 is rounded to 177 of them, and exp(-177 / 256) =
// 0.50087. Half of the smallest subnormal rounds to 0, before it is taken from the whole one or after.
TEST(Legal, CrossEntropysGradientMayComeFromAStoredLogarithm) {
  OwnedProblem problem(*find_op("cross_entropy"), Pass::backward, DType::f32, {1, 2});
  problem.set("logits", {65500, 65500}).set("target", {1}).set("grad_loss", {1});
  EXPECT_EQ(first(problem, "grad_logits", "two_pass"), 0.5);
  EXPECT_NEAR(first(problem, "grad_logits", "from_logsumexp"), 0.500871224, 1e-7);
  problem.set("target", {0}).set("grad_loss", {0x1p-149});
  EXPECT_EQ(first(problem, "grad_logits", "two_pass"), 0);
  EXPECT_EQ(first(problem, "grad_logits", "distributed"), -0x1p-149);
}

// Twice 3e38 overflows, and times a weight of 0 is no number, where h = grad_y * weight is 0.
TEST(Legal, TheGradientOfANormMayBeMultipliedByItsColumnsFirst) {
  for (const char* op : {"layernorm", "rmsnorm"})
    for (const double g : {-3e38, 1e38}) {
      OwnedProblem problem(*find_op(op), Pass::backward, DType::f32, {1, 2});
      problem.set("x", {1, -1}).set("weight", {0, 1}).set("grad_y", {g, 0});
      const Evaluated gradient = named(problem.evaluate(golden), "grad_x");
      EXPECT_EQ(gradient.value.front(), 0) << op;
      EXPECT_EQ(gradient.formula_overflows, (std::vector<std::uint8_t>{std::fabs(g) > 2e38, 0})) << op << g;
      EXPECT_EQ(std::isnan(first(problem, "grad_x", "cols_first")), std::fabs(g) > 2e38) << op << g;
    }
}

// rstd is 1.53, h = -0.7 * 3.4e38 its whole row but for a 0: rstd * h is past the largest, -2.1e38 * 1.53
// + 1.5e38 in its place is not.
TEST(Legal, RstdMayMeetEachTermOfTheDifferenceFirst) {
  for (const double w : {-3.4e38, -1e38}) {
    OwnedProblem problem(*find_op("rmsnorm"), Pass::backward, DType::f32, {1, 2});
    problem.set("x", {0.7, -0.6}).set("weight", {1, w}).set("grad_y", {0.7, 0.7});
    const Evaluated gradient = named(problem.evaluate(golden), "grad_x");
    const double g = gradient.value.back();
    EXPECT_NEAR(g / w, 0.7 * 1.5339299 * 0.49 / 0.85, 1e-5); // rstd * h * (1 - z^2 / 2), z^2 = 0.36 rstd^2
    EXPECT_EQ(gradient.formula_overflows.back() != 0, w < -2e38);
    Instrument plain;
    plain.algorithm = algorithm_named(problem.op, Pass::backward, "rstd_last");
    EXPECT_NEAR(named(problem.evaluate(plain), "grad_x").value.back() / g, 1, 1e-5);
    plain.algorithm = algorithm_named(problem.op, Pass::backward, "distributed");
    const double distributed = named(problem.evaluate(plain), "grad_x").value.back();
    EXPECT_EQ(std::isfinite(distributed), w > -2e38);
    if (std::isfinite(distributed)) EXPECT_NEAR(distributed / g, 1, 1e-5);
  }
}

// rstd is 1000, mean(h * x) = -1.5e30: its product with rstd^3 overflows, times x = 1e-8 or not.
TEST(Legal, TheCubeOfRstdMayMeetTheMeanFirst) {
  OwnedProblem problem(*find_op("rmsnorm"), Pass::backward, DType::f32, {1, 2});
  problem.set("x", {1e-8, 1e-8}).set("weight", {-3e38, 0}).set("grad_y", {1, 1});
  for (const std::string_view form : {"rstd_first", "rstd_last", "distributed", "rstd_cubed"}) {
    Instrument plain;
    plain.algorithm = algorithm_named(problem.op, Pass::backward, form);
    const double gradient = named(problem.evaluate(plain), "grad_x").value.back();
    EXPECT_EQ(std::isinf(gradient), form == "rstd_cubed") << form;
    if (form != "rstd_cubed") EXPECT_NEAR(gradient / 1.5e31, 1, 1e-3) << form;
  }
}

TEST(Legal, TheNumberOfTermsMayComeAsAReciprocal) {
  // 41 times the float nearest to 1/41 rounds to 1 - 2^-24.
  const OwnedProblem ones = row_of("mean", std::vector<double>(41, 1));
  EXPECT_EQ(first(ones, "y", "divided"), 1);
  EXPECT_EQ(first(ones, "y", "by_reciprocal"), 1 - 0x1p-24);
  // 3/4 of the smallest subnormal rounds to it, four times.
  const OwnedProblem subnormal = row_of("mean", {0x3p-149, 0x3p-149, 0x3p-149, 0x3p-149});
  EXPECT_EQ(first(subnormal, "y", "divided"), 0x3p-149);
  EXPECT_EQ(first(subnormal, "y", "terms_scaled"), 0x4p-149);
}

// One query, two keys, v = (0, 1): the second key's weight.
double second_weight(const std::vector<double>& q, const std::vector<double>& k, std::string_view algorithm) {
  const auto d = static_cast<std::int64_t>(q.size());
  OwnedProblem problem(*find_op("attention"), Pass::forward, DType::f32, {1, 1, 1, 2, d});
  std::vector<double> v(static_cast<std::size_t>(2 * d), 0);
  v[static_cast<std::size_t>(d)] = 1;
  problem.set("q", q).set("k", k).set("v", v);
  return first(problem, "out", algorithm);
}

TEST(Legal, AQueryMayBeScaledBeforeItsProductWithTheKeys) {
  // 13 * 7 - 7 * 13 = 0, but the float nearest to 13 / sqrt(2) times 7 falls short of the one nearest to 7 /
  // sqrt(2) times 13 by 2^-17: 2^22 times as much is a score of -32.
  const double huge = 0x1p22;
  const std::vector<double> q{13, 7}, k{0, 0, 7 * huge, -13 * huge};
  EXPECT_EQ(second_weight(q, k, "two_pass"), 0.5);
  EXPECT_EQ(second_weight(q, k, "online"), 0.5);
  EXPECT_NEAR(second_weight(q, k, "online, query scaled"), std::exp(-32), 1e-16);
}

TEST(Legal, AnExponentialMayBeAPowerOfTwoOfTheScaledQuery) {
  // The float nearest to log2(e) is 1.44269502163; times 2^20 it is 1512775.375, times 2^20 - 1 it is
  // 1512773.9323, between floats 1/8 apart: 1512773.875. 2^-1.5 against 1 in place of exp(-1).
  const std::vector<double> q{1}, k{0x1p20, 0x1p20 - 1};
  EXPECT_NEAR(second_weight(q, k, "two_pass"), 0.26894142, 1e-7);
  EXPECT_NEAR(second_weight(q, k, "online, query scaled"), 0.26894142, 1e-7); // 1 / sqrt(1)
  EXPECT_NEAR(second_weight(q, k, "online, query scaled, exp2"), 0.26120387, 1e-7);
}

TEST(Legal, WeightsMayBeRoundedBeforeTheirSumDivides) {
  // bf16 is 2^-9 apart here: exp(-1) = 0.36787944 rounds to 0.3671875, their sum 1.36787944 is not rounded,
  // and the quotient 0.26843557 rounds to 137 * 2^-9; the probability 0.26894142 to 138 * 2^-9.
  OwnedProblem problem(*find_op("attention"), Pass::forward, DType::bf16, {1, 1, 1, 2, 1});
  problem.set("q", {1}).set("k", {1, 0}).set("v", {0, 1});
  EXPECT_EQ(first(problem, "out", "two_pass"), 138 * 0x1p-9);
  EXPECT_EQ(first(problem, "out", "online"), 138 * 0x1p-9);
  EXPECT_EQ(first(problem, "out", "online, weights rounded"), 137 * 0x1p-9);
}

TEST(Legal, ProductsMayBeTakenInAnotherOrder) {
  // silu'(-17) = s (1 - 17 (1 - s)), s = 4.1e-8: 1e-38 s is 0.3 of the smallest subnormal, and rounds to 0.
  OwnedProblem problem(*find_op("silu"), Pass::backward, DType::f32, {1});
  problem.set("x", {-17}).set("grad_y", {1e-38});
  Instrument first_two;
  EXPECT_LT(named(problem.evaluate(first_two), "grad_x").value.front(), 0);
  first_two.narrowed = products_first;
  first_two.narrow = DType::f32;
  EXPECT_EQ(named(problem.evaluate(first_two), "grad_x").value.front(), 0);
}

// grad_y * up * slope: silu'(2) = 1.09 times -3.38e38 is infinite, and times an up of 0 no number.
TEST(Legal, AnyTwoOfThreeFactorsMayMeetFirst) {
  OwnedProblem problem(*find_op("swiglu"), Pass::backward, DType::bf16, {1, 1});
  problem.set("gate", {2}).set("up", {0}).set("grad_y", {-3.38e38});
  for (const unsigned way : {unsigned{products_first}, unsigned{products_last}, unsigned{products_across}}) {
    Instrument other;
    other.narrowed = way;
    other.narrow = DType::bf16;
    const double gradient = named(problem.evaluate(other), "grad_gate").value.front();
    EXPECT_EQ(std::isnan(gradient), way == products_across) << way << " " << gradient;
  }
  const NumberContext before = std::exchange(number_context, {.narrowed = products_across});
  using Number = Narrow<float>;
  EXPECT_EQ(((Number(1e30F) * Number(1e-30F)) * Number(1e30F)).v, std::numeric_limits<float>::infinity());
  EXPECT_EQ((Number(1e30F) * (Number(1e-30F) * Number(1e30F))).v, std::numeric_limits<float>::infinity());
  EXPECT_EQ((Number(1e-30F) * (Number(1e30F) * Number(1e-30F))).v, 0);
  number_context = before;
}

TEST(Legal, AnotherOrderOfProductsIsTheSameFormula) {
  for (const Op* op : all_ops()) {
    if (op->info().exact || op->info().name == "rope") continue;
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      if (pass == Pass::backward && !op->info().has_backward) continue;
      const auto& names = pass == Pass::forward ? op->info().algorithms : op->info().backward_algorithms;
      OwnedProblem problem(*op, pass, DType::f32, std::vector<std::int64_t>(op->info().dims.size(), 3));
      problem.fill("normal", 7);
      for (int algorithm = 0; algorithm < static_cast<int>(names.size()); ++algorithm) {
        Instrument plain;
        plain.algorithm = algorithm;
        const std::vector<Evaluated> expected = problem.evaluate(plain);
        for (const unsigned way :
             {unsigned{products_first}, unsigned{products_last}, unsigned{products_across},
              unsigned{reciprocals}, reciprocals | products_first, reciprocals | products_last,
              reciprocals | products_across}) {
          Instrument other = plain;
          other.narrowed = way;
          other.narrow = DType::f32;
          const std::vector<Evaluated> got = problem.evaluate(other);
          for (std::size_t k = 0; k < got.size(); ++k)
            for (std::size_t e = 0; e < got[k].value.size(); ++e)
              EXPECT_NEAR(got[k].value[e], expected[k].value[e], 1e-5)
                  << op->info().name << " " << got[k].tensor << " algorithm " << algorithm;
        }
      }
    }
  }
}

TEST(Legal, AScaledMaximumMayOverflow) {
  for (const char* op : {"softmax", "log_softmax", "logsumexp"})
    for (const double x : {2.3e38, 2.4e38}) { // times log2(e): 3.32e38 and 3.46e38, the largest is 3.40e38
      const OwnedProblem problem = row_of(op, {x, 0});
      const Evaluated y = named(problem.evaluate(instrument(Instrument::Number::golden)), "y");
      EXPECT_EQ(y.formula_overflows.front() != 0, x > 2.36e38) << op << " " << x;
    }
}

TEST(Legal, AnApproximateQuotientMayBeZeroBeyondTwoToThe126) {
  OwnedProblem problem(*find_op("silu"), Pass::forward, DType::bf16, {1});
  problem.set("x", {-88}); // 1 + exp(88) = 1.65e38, 2^126 = 8.5e37
  Instrument down;
  down.functions = Instrument::Functions::all_down;
  EXPECT_LT(named(problem.evaluate(down), "y").value.front(), 0);
  down.approximate = all_approximate;
  EXPECT_EQ(named(problem.evaluate(down), "y").value.front(), 0);
}

TEST(Legal, TheZerosLeftOfAConvolutionMayMeetAnInfiniteWeight) {
  OwnedProblem problem(*find_op("causal_conv1d"), Pass::forward, DType::f32, {1, 1, 3, 2});
  problem.set("x", {1, 2, 3}).set("bias", {0}).set("weight", {std::numeric_limits<double>::infinity(), 1});
  const Evaluated y = named(problem.evaluate(instrument(Instrument::Number::golden)), "y");
  EXPECT_EQ(y.value.front(), 1);
  EXPECT_EQ(y.formula_overflows, (std::vector<std::uint8_t>{1, 0, 0}));
}

// The float nearest to 1 / 12600, times 12600, rounds to 1 - 2^-24; 1 / 4 is exact.
TEST(Legal, AQuotientMayBeAProductWithTheReciprocal) {
  for (const auto& [x, y] : {std::pair(12600.0, 1 - 0x1p-24), std::pair(4.0, 1.0)}) {
    const OwnedProblem problem = row_of("l2_normalize", {x});
    Instrument by_reciprocal;
    by_reciprocal.narrowed = reciprocals;
    by_reciprocal.narrow = DType::f32;
    EXPECT_EQ(named(problem.evaluate({}), "y").value.front(), 1);
    EXPECT_EQ(named(problem.evaluate(by_reciprocal), "y").value.front(), y);
  }
}

// In steps of the smallest subnormal: y = 1.02e-6 leaves 1 - 17 * 2^-24 and 1 + 9 * 2^-23, so that 3282670
// become
// ...666.67 and rounded ...670.52; added first, 3282670 and 3.35 are ...673, and that times 1 - y ...669.67.
// y^2 takes nothing. An upstream of 2^127 and a y of 1 overflow before they meet 1 - y.
TEST(Legal, TheGradientOfTanhMayMeetItsFactorsOneByOne) {
  OwnedProblem problem(*find_op("tanh"), Pass::backward, DType::f32, {1});
  problem.set("x", {1.02e-6F}).set("grad_y", {3282670 * 0x1p-149});
  EXPECT_EQ(first(problem, "grad_x", "stored"), 3282670 * 0x1p-149);
  EXPECT_EQ(first(problem, "grad_x", "stored, factors"), 3282671 * 0x1p-149);
  EXPECT_EQ(first(problem, "grad_x", "stored, added"), 3282670 * 0x1p-149);
  problem.set("x", {20}).set("grad_y", {0x1p127});
  EXPECT_EQ(first(problem, "grad_x", "stored"), 0);
  EXPECT_TRUE(std::isnan(first(problem, "grad_x", "stored, added")));
  const Evaluated golden = named(problem.evaluate(instrument(Instrument::Number::golden)), "grad_x");
  EXPECT_EQ(golden.formula_overflows.front(), 1);
  EXPECT_TRUE(std::isfinite(golden.value.front()));
}

// -1.47 log2(e) rounds, and times ln 2 once more. Means of 0, 0, 3 are 0, 0 and 3 / 3; of 0, 3, 0 they
// are 1.5, less 1.5 / 3. The 1 among seven comes as 1, 1/2, 1/3 ...: 1/7 in the end, but for their roundings.
TEST(Legal, MeansMayRunAndLogarithmsHaveBaseTwo) {
  EXPECT_EQ(first(row_of("mean", {0, 0, 3}), "y", "running"), 1);
  EXPECT_EQ(first(row_of("mean", {0, 3, 0}), "y", "running, weighted"), 1);
  EXPECT_NEAR(first(row_of("mean", {1, 0, 0, 0, 0, 0, 0}), "y", "running"), 1.0 / 7, 0x1p-25);
  EXPECT_EQ(first(row_of("logsumexp", {-1.47F}), "y", "two_pass"), -1.47F);
  EXPECT_EQ(first(row_of("logsumexp", {-1.47F}), "y", "base_two"), -1.47F + 0x1p-23F);
}

// 3 + 4, 3 * 4 and 3 / 4 are exact here, and other forms of a formula may have them rounded; 0 + 3, 1 * 3 and
// 3 / 1 no form rounds. Even a half of the draws stays.
TEST(Legal, ExactResultsMoveWhereTheInstrumentSaysSo) {
  using Number = Noisy<float>;
  for (const bool moves : {false, true}) {
    const NumberContext before = std::exchange(number_context, {.random = 7, .moves_exact = moves});
    std::set<float> sums, products, quotients, repeated;
    for (int draw = 0; draw < 100; ++draw) {
      sums.insert((Number(3) + Number(4)).v);
      products.insert((Number(3) * Number(4)).v);
      quotients.insert((Number(3) / Number(4)).v);
      for (const Number& same : {Number(0) + Number(3), Number(1) * Number(3), Number(3) / Number(1)})
        repeated.insert(same.v);
    }
    number_context = before;
    EXPECT_EQ(repeated, std::set<float>{3});
    EXPECT_EQ(sums, moves ? (std::set<float>{7 - 0x1p-21F, 7, 7 + 0x1p-21F}) : std::set<float>{7});
    EXPECT_EQ(products, moves ? (std::set<float>{12 - 0x1p-20F, 12, 12 + 0x1p-20F}) : std::set<float>{12});
    EXPECT_EQ(quotients,
              moves ? (std::set<float>{0.75F - 0x1p-24F, 0.75F, 0.75F + 0x1p-24F}) : std::set<float>{0.75F});
  }
}

// The factors of a product that lost are none of the winner's: 5 * 3, not (1 * 3) * 2.
TEST(Legal, AMaximumIsOneOfItsNumbersWhole) {
  const NumberContext before = std::exchange(number_context, {.narrowed = products_across});
  using Number = Narrow<float>;
  EXPECT_EQ((maximum(Number(1) * Number(2), Number(5)) * Number(3)).v, 15);
  EXPECT_EQ((maximum(Number(5), Number(1) * Number(2)) * Number(3)).v, 15);
  EXPECT_EQ((maximum(Number(1), Number(1e30F) * Number(1e-30F * 2)) * Number(1e30F)).v,
            std::numeric_limits<float>::infinity());
  number_context = before;
}

// A third of 2^-126 is 2796202 and two thirds of the smallest subnormal: rounded up and times 3, 2^23 + 1 of
// them. 2^-127 is exact. No program means 1e-39 / 1e-39 to be infinite.
TEST(Legal, AReciprocalMayBeSubnormal) {
  const NumberContext before = std::exchange(number_context, {.narrowed = reciprocals});
  using Number = Narrow<float>;
  EXPECT_EQ((Number(41) / Number(41)).v, 1 - 0x1p-24F);
  EXPECT_EQ((Number(0x3p126) / Number(0x3p126)).v, 1 + 0x1p-23F);
  EXPECT_EQ((Number(-0x3p126) / Number(0x3p126)).v, -1 - 0x1p-23F);
  EXPECT_EQ((Number(0x3p126) / Number(0x1p127)).v, 1.5F);
  EXPECT_EQ((Number(3e-39F) / Number(1e-39F)).v, 3e-39F / 1e-39F); // 1 / 1e-39 overflows
  EXPECT_TRUE(std::isnan((Number(0) / Number(0)).v));
  EXPECT_EQ((Number(2) / Number(std::numeric_limits<float>::infinity())).v, 0);
  number_context = before;
}

// A power of two has an exact reciprocal, so that nothing is rounded twice.
TEST(Legal, TheRigorousBoundOfAQuotientHoldsForBothWays) {
  using Number = Rigorous<float>;
  EXPECT_EQ((Number(3) / Number(4)).error, 0.75 * 0x1p-24);
  EXPECT_EQ((Number(12) / Number(3)).error, 4 * (2 * 0x1p-24 + 0x1p-48));
  // Half of the smallest subnormal is 2^-150: 3/4 of a last place of 1 when multiplied by 3 * 2^126.
  EXPECT_EQ((Number(0x3p126) / Number(0x3p126)).error, 0x1p-24 + (1 + 0x1p-24) * 0x3p-24);
  EXPECT_EQ((Number(0x3p126) / Number(0x1p127)).error, 1.5 * 0x1p-24);
  EXPECT_EQ((Number(3e-39F) / Number(1.5e-39F)).error, 2 * 0x1p-24); // 1 / 1.5e-39 overflows
}

// The bias may be the first term, and the taps come in any order: 3e38 + 1e38 is past the largest, 3.4e38. Of
// 1e38 and the two taps nothing is.
TEST(Legal, WhatIsAddedToASumMayComeBeforeItsTerms) {
  for (const double bias : {3e38, -3e38, 1e38}) {
    OwnedProblem problem(*find_op("causal_conv1d"), Pass::forward, DType::f32, {1, 1, 2, 2});
    problem.set("x", {-1e38, 1e38}).set("weight", {1, 1}).set("bias", {bias});
    const Evaluated y = named(problem.evaluate(instrument(Instrument::Number::golden)), "y");
    EXPECT_EQ(y.value.back(), static_cast<float>(bias));
    EXPECT_EQ(y.formula_overflows.back() != 0, std::fabs(bias) > 2e38) << bias;
  }
}

// Half of the last place of the largest float is 2^103: a tap of that size takes the largest bias past it,
// before or after an infinite tap of the other sign.
TEST(Legal, WhatIsAddedToASumMayOverflowBesideAnInfiniteTerm) {
  constexpr double largest = std::numeric_limits<float>::max();
  for (const double tap : {0x1p103, 0x1p102}) {
    OwnedProblem problem(*find_op("causal_conv1d"), Pass::forward, DType::f32, {1, 1, 2, 2});
    problem.set("x", {tap, -std::numeric_limits<double>::infinity()}).set("weight", {1, 1});
    problem.set("bias", {largest});
    const Evaluated y = named(problem.evaluate(instrument(Instrument::Number::golden)), "y");
    EXPECT_EQ(y.value.back(), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(y.formula_overflows.back() != 0, tap == 0x1p103) << tap;
  }
}

// Terms of 2e38, 4e38 with what is added: a product, a quotient or a difference from the sum is no term of
// it.
TEST(Legal, OnlyWhatIsAddedToASumIsATermOfIt) {
  using Number = Golden<false>;
  Number::Sum terms;
  terms.add(1e38), terms.add(-1e38);
  const Number sum = terms.value(), other = 2e38;
  EXPECT_FALSE(sum.overflows);
  EXPECT_TRUE((sum + other).overflows);
  EXPECT_TRUE((other + sum).overflows);
  EXPECT_TRUE((sum + 1e38 + 1e38).overflows);
  EXPECT_FALSE((sum + 1e38).overflows);
  EXPECT_FALSE((sum * 1 + other).overflows);
  EXPECT_FALSE((sum / 1 + other).overflows);
  EXPECT_FALSE((other - sum).overflows);
  EXPECT_FALSE((maximum(sum, -1) + other).overflows);
  Number::Sum small;
  small.add(1e35), small.add(-1e35);
  EXPECT_FALSE((small.value() + 3e38).overflows);
  EXPECT_TRUE((small.value() + 3.4e38).overflows) << "at the edge itself";
}

TEST(Legal, ScatteredSumsStartAtZero) {
  const auto& tensors = find_op("scatter_add_rows")->info().tensors;
  for (const TensorInfo& tensor : tensors)
    EXPECT_EQ(tensor.starts_at_zero, tensor.name == "y") << tensor.name;
}

} // namespace
} // namespace assay::testing
