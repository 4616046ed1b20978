// Golden against MPFR: within its own stated bound, and that bound within 1e-12
// of what the element is made of.
#include "tests/ops/truth.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::testing {
namespace {

class GoldenTest : public ::testing::TestWithParam<std::string_view> {};

void expect_true(const OwnedProblem& p, const std::string& what) {
  for (const Evaluated& g : p.evaluate(golden)) {
    if (g.dtype == DType::i32 || g.dtype == DType::i8) continue; // exact outputs have tests of their own
    const std::vector<Mp> t = truth(p, g.tensor);
    ASSERT_EQ(t.size(), g.value.size()) << what << g.tensor;
    for (std::size_t i = 0; i < t.size(); ++i) {
      const double expected = t[i].to_double();
      if (std::isinf(g.bound[i])) { // no claim: nowhere but where the legal
                                    // formula overflows
        ASSERT_EQ(g.formula_overflows[i], 1) << what << g.tensor << " " << i;
        continue;
      }
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(g.value[i])) << what << g.tensor << " " << i;
        continue;
      }
      const Mp value = Mp(g.value[i]) + Mp(g.value_low.empty() ? 0 : g.value_low[i]);
      const double error = abs(value - t[i]).to_double();
      ASSERT_LE(error, g.bound[i] + 1e-110 * std::fabs(expected)) // 400 bits
          << what << g.tensor << " " << i << " value " << g.value[i] << " truth " << expected;
      if (g.formula_overflows[i] == 0) {
        ASSERT_LE(g.bound[i], 1e-12 * g.magnitude[i] + 1e-270)
            << what << g.tensor << " " << i << " = " << expected;
        ASSERT_LE(std::fabs(expected), g.magnitude[i] * (1 + 1e-12) + 1e-300) << what << g.tensor << " " << i;
      }
    }
  }
}

std::vector<std::vector<std::int64_t>> shapes_of(const OpInfo& info) {
  if (info.name == "attention") return {{1, 1, 1, 1, 1}, {2, 2, 5, 7, 8}};
  if (info.name == "rope") return {{1, 1, 1, 2, 1}, {3, 2, 1, 8, 5}};
  if (info.name == "causal_conv1d") return {{1, 1, 1, 1}, {2, 3, 9, 4}};
  if (info.dims.size() == 3) return {{1, 1, 1}, {5, 3, 17}};
  if (info.dims.size() == 2) return {{1, 1}, {3, 2}, {2, 33}, {5, 130}};
  return {{1}, {200}};
}

TEST_P(GoldenTest, IsWithinItsBoundOfTheTruth) {
  const Op& op = *find_op(GetParam());
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    if (pass == Pass::backward && !op.info().has_backward) continue;
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64})
      for (const std::string_view kind : kinds)
        for (const auto& dims : shapes_of(op.info())) {
          OwnedProblem p(op, pass, dtype, dims);
          p.fill(kind, 17);
          expect_true(p, fmt::format("{} {} {} {} cols {}: ", op.info().name, name_of(pass), name_of(dtype),
                                     kind, dims.back()));
          if (HasFatalFailure()) return;
        }
  }
}

std::vector<std::string_view> ops_with_truth() {
  std::vector<std::string_view> names;
  for (const Op* op : all_ops())
    if (has_truth(op->info().name)) names.push_back(op->info().name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Ops, GoldenTest, ::testing::ValuesIn(ops_with_truth()),
                         [](const auto& info) { return std::string(info.param); });

TEST(Golden, EveryOperatorHasATruth) {
  for (const Op* op : all_ops())
    EXPECT_TRUE(op->info().exact || has_truth(op->info().name)) << op->info().name;
}

TEST(Golden, ExactResultsHaveBoundZero) {
  OwnedProblem p(*find_op("softmax"), Pass::forward, DType::f32, {1, 4});
  p.set("x", {2, 2, 2, 2});
  const Evaluated y = named(p.evaluate(golden), "y");
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(y.value[i], 0.25);
    EXPECT_EQ(y.bound[i], 0.0);
    EXPECT_EQ(y.formula_overflows[i], 0);
  }
  EXPECT_EQ(y.line_starts, (std::vector<std::int64_t>{0, 4}));
}

} // namespace
} // namespace assay::testing
