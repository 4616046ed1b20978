// The reference bit for bit against the plain float loops that a kernel
// engineer would write by hand.
#include "harness/numerics/formats.h"
#include "tests/ops/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::testing {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

std::vector<float> floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

void expect_bits(const Evaluated& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.value.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double e = round_value(got.dtype, static_cast<double>(expected[i]));
    if (std::isnan(e)) {
      EXPECT_TRUE(std::isnan(got.value[i])) << got.tensor << " " << i;
    } else {
      EXPECT_EQ(got.value[i], e) << got.tensor << " " << i;
    }
  }
}

class ReferenceTest : public ::testing::TestWithParam<std::tuple<DType, std::string_view>> {
 protected:
  OwnedProblem problem(std::string_view op, Pass pass, std::int64_t rows, std::int64_t cols) const {
    OwnedProblem p(*find_op(op), pass, std::get<0>(GetParam()), {rows, cols});
    p.fill(std::get<1>(GetParam()), 5);
    return p;
  }
};

std::vector<float> softmax_by_hand(const std::vector<float>& x, std::size_t rows, std::size_t cols) {
  std::vector<float> y(x.size());
  for (std::size_t r = 0; r < rows; ++r) {
    const float* row = x.data() + r * cols;
    float largest = row[0], total = 0;
    for (std::size_t i = 1; i < cols; ++i) largest = row[i] > largest ? row[i] : largest;
    for (std::size_t i = 0; i < cols; ++i) total += std::exp(row[i] - largest);
    for (std::size_t i = 0; i < cols; ++i) y[r * cols + i] = std::exp(row[i] - largest) / total;
  }
  return y;
}

TEST_P(ReferenceTest, SoftmaxForward) {
  const OwnedProblem p = problem("softmax", Pass::forward, 3, 67);
  expect_bits(named(p.evaluate(reference), "y"), softmax_by_hand(floats(p.values("x")), 3, 67));
}

TEST_P(ReferenceTest, SoftmaxBackwardFromTheStoredY) {
  const OwnedProblem p = problem("softmax", Pass::backward, 3, 67);
  std::vector<float> y = softmax_by_hand(floats(p.values("x")), 3, 67);
  for (float& v : y) v = static_cast<float>(round_value(p.problem.dtype, static_cast<double>(v)));
  const std::vector<float> g = floats(p.values("grad_y"));
  std::vector<float> expected(y.size());
  for (std::size_t r = 0; r < 3; ++r) {
    float dot = 0;
    for (std::size_t i = r * 67; i < r * 67 + 67; ++i) dot += g[i] * y[i];
    for (std::size_t i = r * 67; i < r * 67 + 67; ++i) expected[i] = y[i] * (g[i] - dot);
  }
  expect_bits(named(p.evaluate(reference), "grad_x"), expected);
}

TEST_P(ReferenceTest, OffsetRmsnorm) {
  const OwnedProblem p = problem("offset_rmsnorm", Pass::forward, 3, 67);
  const std::vector<float> x = floats(p.values("x")), w = floats(p.values("weight"));
  std::vector<float> y(x.size()), rstd(3);
  for (std::size_t r = 0; r < 3; ++r) {
    float squares = 0;
    for (std::size_t i = 0; i < 67; ++i) squares += x[r * 67 + i] * x[r * 67 + i];
    rstd[r] = 1.0f / std::sqrt(squares / 67.0f + 1e-6f);
    for (std::size_t i = 0; i < 67; ++i) y[r * 67 + i] = x[r * 67 + i] * rstd[r] * (1.0f + w[i]);
  }
  const auto got = p.evaluate(reference);
  expect_bits(named(got, "y"), y);
  expect_bits(named(got, "rstd"), rstd);
}

INSTANTIATE_TEST_SUITE_P(Types, ReferenceTest,
                         ::testing::Combine(::testing::Values(DType::f32, DType::f16, DType::bf16),
                                            ::testing::ValuesIn(kinds)),
                         [](const auto& info) {
                           return fmt::format("{}_{}", name_of(std::get<0>(info.param)),
                                              std::get<1>(info.param));
                         });

std::vector<double> softmax_row_of(const std::vector<double>& x, const Instrument& instrument) {
  OwnedProblem p(*find_op("softmax"), Pass::forward, DType::f32, {1, static_cast<std::int64_t>(x.size())});
  p.set("x", x);
  return named(p.evaluate(instrument), "y").value;
}

TEST(SoftmaxSpecialValues, AreThoseOfTorch) {
  using ::testing::Each;
  using ::testing::ElementsAre;
  using ::testing::IsNan;
  Instrument online;
  online.algorithm = 1;
  for (const Instrument& i : {reference, golden, online}) {
    EXPECT_THAT(softmax_row_of({-inf, -inf}, i), Each(IsNan()));
    EXPECT_THAT(softmax_row_of({std::nan(""), 0}, i), Each(IsNan()));
    EXPECT_THAT(softmax_row_of({-inf, 0, -inf, 0}, i), ElementsAre(0, 0.5, 0, 0.5));
    EXPECT_THAT(softmax_row_of({-inf, -inf, 0}, i), ElementsAre(0, 0, 1));
    EXPECT_THAT(softmax_row_of({5}, i), ElementsAre(1));
    EXPECT_THAT(softmax_row_of({3e38, -3e38}, i), ElementsAre(1, 0));
    EXPECT_EQ(softmax_row_of({}, i).size(), 0U);
  }
  for (const Instrument& i : {reference, golden}) EXPECT_THAT(softmax_row_of({inf, 0, 1}, i), Each(IsNan()));
}

TEST(Softmax, NoRows) {
  OwnedProblem p(*find_op("softmax"), Pass::forward, DType::f16, {0, 5});
  const Evaluated y = named(p.evaluate(golden), "y");
  EXPECT_EQ(y.shape, (std::vector<std::int64_t>{0, 5}));
  EXPECT_TRUE(y.value.empty());
  EXPECT_EQ(y.line_starts, (std::vector<std::int64_t>{0}));
}

// x = 2e19: its square is past the largest float, so the formula overflows
// though the true y is 1.
TEST(FormulaOverflows, WhereAnIntermediateLeavesFloat) {
  OwnedProblem p(*find_op("offset_rmsnorm"), Pass::forward, DType::f32, {3, 2});
  p.set("x", {1, 1, 2e19, 1, 1.5e19, 1.5e19}).set("weight", {0, 0});
  const Evaluated y = named(p.evaluate(golden), "y");
  EXPECT_THAT(y.formula_overflows, ::testing::ElementsAre(0, 0, 1, 1, 1, 1))
      << "2.25e38 + 2.25e38 only as a sum";
  EXPECT_NEAR(y.value[2], std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(y.value[4], 1.0, 1e-12);
}

TEST(FormulaOverflows, NotInSoftmaxNorFromInfiniteInputs) {
  for (const std::vector<double>& x : {std::vector<double>{1e4, -1e4, 88.9}, {inf, 0, 1}, {-inf, -inf, 0}}) {
    OwnedProblem p(*find_op("softmax"), Pass::forward, DType::f32, {1, 3});
    p.set("x", x);
    EXPECT_THAT(named(p.evaluate(golden), "y").formula_overflows, ::testing::Each(0));
  }
}

Evaluated quantized(const std::vector<double>& row) {
  OwnedProblem p(*find_op("quantize_rows_i8"), Pass::forward, DType::f32,
                 {1, static_cast<std::int64_t>(row.size())});
  return named(p.set("x", row).evaluate(golden), "q");
}

// max = 254: max / 127 = 2 and 127 / max = 0.5 are exact, so 127 x / 254 = x /
// 2 ties to even and nothing else is right.
TEST(Quantize, TiesGoToEvenWhereTheScaleIsExact) {
  const Evaluated q = quantized({254, 1, 3, -1, -3, 5});
  EXPECT_THAT(q.value, ::testing::ElementsAre(127, 0, 2, 0, -2, 2));
  EXPECT_EQ(q.alternative, q.value);
}

// max = 100: 1.27 x; x = 50 is 63.5, a tie beside which either neighbour is
// right; x = 51 is 64.77.
TEST(Quantize, BesideATieEitherNeighbourWhereItIsNot) {
  const Evaluated q = quantized({100, 50, 51, -50});
  EXPECT_THAT(q.value, ::testing::ElementsAre(127, 64, 65, -64));
  EXPECT_THAT(q.alternative, ::testing::ElementsAre(127, 63, 65, -63));
}

TEST(Quantize, AZeroRow) { EXPECT_THAT(quantized({0, 0}).value, ::testing::Each(0)); }

TEST(Argmax, FirstOfEqualsAndFirstNan) {
  OwnedProblem p(*find_op("argmax"), Pass::forward, DType::f32, {3, 4});
  p.set("x", {1, 7, 7, 2, 3, std::nan(""), 9, std::nan(""), -1, -1, -1, -1});
  for (const Instrument& i : {reference, golden})
    EXPECT_THAT(named(p.evaluate(i), "y").value, ::testing::ElementsAre(1, 1, 0));
}

TEST(Logsumexp, OfInfinities) {
  OwnedProblem p(*find_op("logsumexp"), Pass::forward, DType::f32, {3, 2});
  p.set("x", {-inf, -inf, inf, 0, inf, std::nan("")});
  for (const Instrument& i : {reference, golden})
    EXPECT_THAT(named(p.evaluate(i), "y").value, ::testing::ElementsAre(-inf, inf, ::testing::IsNan()));
}

// The weights of a softmax add to 1 but for roundings: with gradients of 3.4028229e38 before their sum, or
// not, is past the largest float, 3.4028235e38; with 3.3e38 it is not.
TEST(Softmax, GradientsBesideTheLargestMayOverflow) {
  for (const double size : {3.4028229e38, 3.3e38}) {
    OwnedProblem p(*find_op("softmax"), Pass::backward, DType::f32, {1, 3});
    p.set("x", {2.9192286, -0.28655556, -1.3812615}).set("grad_y", {-size, -size, -size});
    EXPECT_THAT(named(p.evaluate(golden), "grad_x").formula_overflows, ::testing::Each(size > 3.35e38));
  }
}

// -3e38 - 3e38 + inf is NaN where the finite terms meet first, and infinity in every other order.
TEST(Sum, FiniteTermsMayOverflowBesideAnInfiniteOne) {
  OwnedProblem p(*find_op("sum"), Pass::forward, DType::f32, {3, 3});
  p.set("x", {-3e38, inf, -3e38, 1, inf, -3e38, 1, 2, 3});
  const Evaluated y = named(p.evaluate(golden), "y");
  EXPECT_THAT(y.value, ::testing::ElementsAre(inf, inf, 6));
  EXPECT_THAT(y.formula_overflows, ::testing::ElementsAre(1, 0, 0));
}

TEST(OverNoElements, SumIsZeroMeanNanMaxMinusInfinity) {
  const auto value = [](std::string_view op) {
    OwnedProblem p(*find_op(op), Pass::forward, DType::f32, {1, 0});
    return named(p.evaluate(golden), "y").value[0];
  };
  EXPECT_EQ(value("sum"), 0);
  EXPECT_TRUE(std::isnan(value("mean")));
  EXPECT_TRUE(std::isnan(value("variance")));
  EXPECT_EQ(value("max"), -inf);
  EXPECT_EQ(value("logsumexp"), -inf);
}

TEST(MaskedSoftmax, DroppedEntriesAreZeroWhateverTheKeptOnesAre) {
  OwnedProblem p(*find_op("masked_softmax"), Pass::forward, DType::f32, {3, 3});
  p.set("x", {1, 1, inf, std::nan(""), 1, 2, 1, 2, 3}).set("mask", {1, 1, 0, 1, 1, 0, 0, 0, 0});
  const double nan = std::nan("");
  for (const Instrument& i : {reference, golden})
    EXPECT_THAT(named(p.evaluate(i), "y").value,
                ::testing::Pointwise(::testing::NanSensitiveDoubleEq(),
                                     {0.5, 0.5, 0.0, nan, nan, 0.0, 0.0, 0.0, 0.0}));
}

TEST(CrossEntropy, AnIgnoredTargetCostsNothing) {
  OwnedProblem p(*find_op("cross_entropy"), Pass::backward, DType::f32, {2, 2});
  p.set("logits", {0, 0, 0, 0}).set("target", {-100, 1}).set("grad_loss", {1, 1});
  EXPECT_THAT(named(p.evaluate(golden), "grad_logits").value, ::testing::ElementsAre(0, 0, 0.5, -0.5));
}

TEST(Attention, CausalIsAlignedToTheLastKey) {
  OwnedProblem p(*find_op("attention"), Pass::forward, DType::f32, {1, 1, 3, 2, 1});
  p.problem.params = {1};
  p.set("q", {0, 0, 0}).set("k", {1, 2}).set("v", {4, 6});
  // Of 3 queries and 2 keys the first sees none, the second one, the third
  // both.
  EXPECT_THAT(named(p.evaluate(golden), "out").value, ::testing::ElementsAre(0, 4, 5));
}

// Whether some legal evaluation gives exactly `value` as element `element` of `tensor`.
bool some_legal_gives(const OwnedProblem& p, std::string_view tensor, std::size_t element, double value) {
  for (const Instrument& i : legal_instruments(p.op, p.problem.pass)) {
    const double v = named(p.evaluate(i), tensor).value[element];
    if (v == value || (std::isnan(v) && std::isnan(value))) return true;
  }
  return false;
}

TEST(LegalEvaluations, ScanByDoubling) {
  OwnedProblem p(*find_op("cumsum"), Pass::forward, DType::f32, {1, 3});
  p.set("x", {0.6f, -0.6f, 0.03f});
  // x[1] + x[2] first, then x[0].
  EXPECT_TRUE(some_legal_gives(p, "y", 2, 0.6f + (-0.6f + 0.03f)));
  EXPECT_TRUE(some_legal_gives(p, "y", 2, 0.03f));
}

TEST(LegalEvaluations, AConvolutionMayStartFromItsBias) {
  OwnedProblem p(*find_op("causal_conv1d"), Pass::forward, DType::f32, {1, 1, 2, 2});
  p.set("x", {1, 1}).set("weight", {0x1p60, -0x1p60}).set("bias", {1});
  EXPECT_TRUE(some_legal_gives(p, "y", 1, 0)); // (1 + 2^60) - 2^60
  EXPECT_TRUE(some_legal_gives(p, "y", 1, 1));
}

TEST(LegalEvaluations, ProductsOfANormMayMeetInAnyOrder) {
  // 0.5 * 2^-149 rounds to 0 before rstd, about 316 there, can lift it.
  OwnedProblem p(*find_op("layernorm"), Pass::backward, DType::f32, {1, 2});
  p.problem.params = {1e-5f};
  p.set("x", {-0x1p-149, 0x1p-149}).set("weight", {0, 0}).set("bias", {0, 0}).set("grad_y", {0, -0.5});
  EXPECT_TRUE(some_legal_gives(p, "grad_weight", 1, 0));
  EXPECT_NE(named(p.evaluate(golden), "grad_weight").value[1], 0);
  OwnedProblem q(*find_op("rmsnorm"), Pass::backward, DType::f32, {1, 1});
  q.problem.params = {1e-6f};
  q.set("x", {-0x1p-149}).set("weight", {0}).set("grad_y", {0.5});
  EXPECT_TRUE(some_legal_gives(q, "grad_weight", 0, 0));
}

TEST(LegalEvaluations, SumsOfOnlineAttentionMayOverflow) {
  OwnedProblem p(*find_op("attention"), Pass::forward, DType::f32, {1, 1, 1, 2, 1});
  p.set("q", {0}).set("k", {0, 0}).set("v", {0x1.8p127, 0x1.8p127});
  EXPECT_EQ(named(p.evaluate(golden), "out").value[0], 0x1.8p127);
  EXPECT_TRUE(some_legal_gives(p, "out", 0, inf));
  EXPECT_TRUE(some_legal_gives(p, "out", 0, 0x1.8p127));
}

} // namespace
} // namespace assay::testing
