// Every gradient against finite differences of the forward formula: golden
// float64 evaluations of sum(upstream * output), by Richardson extrapolation of
// central differences.
#include "harness/numerics/formats.h"
#include "tests/ops/problem.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::testing {
namespace {

// sum over the differentiable outputs of upstream * output, in double-double.
double objective(const Op& op, const std::vector<std::int64_t>& dims, const OwnedProblem& backward) {
  OwnedProblem forward(op, Pass::forward, DType::f64, dims);
  for (const TensorInfo& t : op.info().tensors)
    if (t.role == Role::input) forward.set(t.name, backward.values(t.name));
  const auto outputs = forward.evaluate(golden);
  DoubleDouble total = 0;
  for (const TensorInfo& t : op.info().tensors) {
    if (t.role != Role::upstream) continue;
    const Evaluated& output = named(outputs, t.of);
    const std::vector<double> g = backward.values(t.name);
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double low = output.value_low.empty() ? 0 : output.value_low[i];
      total += DoubleDouble(output.value[i], low) * g[i];
    }
  }
  return to_double(total);
}

class BackwardTest : public ::testing::TestWithParam<std::string> {};

TEST_P(BackwardTest, AgreesWithFiniteDifferencesOfForward) {
  const Op& op = *find_op(GetParam());
  std::vector<std::int64_t> dims;
  for (const DimInfo& dim : op.info().dims)
    dims.push_back(std::max<std::int64_t>(dim.multiple_of, dims.empty() ? 2 : 4));
  for (const std::uint64_t seed : {1, 2, 3}) {
    OwnedProblem p(op, Pass::backward, DType::f64, dims);
    p.fill("normal", seed);
    const auto gradients = p.evaluate(golden);
    for (const TensorInfo& t : op.info().tensors) {
      if (t.role != Role::gradient) continue;
      const Evaluated& gradient = named(gradients, t.name);
      const std::vector<double> at = p.values(t.of);
      for (std::size_t i = 0; i < at.size(); ++i) {
        const auto difference = [&](double h) {
          std::vector<double> moved = at;
          moved[i] = at[i] + h;
          const double above = objective(op, dims, p.set(t.of, moved));
          moved[i] = at[i] - h;
          const double below = objective(op, dims, p.set(t.of, moved));
          p.set(t.of, at);
          return (above - below) / (2 * h);
        };
        const double h = 0x1p-7;
        const double d0 = difference(h), d1 = difference(h / 2), d2 = difference(h / 4),
                     d3 = difference(h / 8);
        const double e0 = (4 * d1 - d0) / 3, e1 = (4 * d2 - d1) / 3, e2 = (4 * d3 - d2) / 3;
        const double f0 = (16 * e1 - e0) / 15, f1 = (16 * e2 - e1) / 15;
        const double expected = (64 * f1 - f0) / 63;
        EXPECT_NEAR(gradient.value[i], expected, 1e-9 * (1 + std::fabs(expected))) << t.name << " " << i;
      }
    }
  }
}

std::vector<std::string> differentiable_ops() {
  std::vector<std::string> names;
  for (const Op* op : all_ops())
    if (op->info().has_backward && op->info().name != "relu") names.push_back(op->info().name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Ops, BackwardTest, ::testing::ValuesIn(differentiable_ops()),
                         [](const auto& info) { return info.param; });

} // namespace
} // namespace assay::testing
