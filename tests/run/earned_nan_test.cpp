// No legal evaluation of any operator is NaN but where something overflows, or an input or param is extreme.
#include "harness/numerics/formats.h"
#include "harness/run/confirm.h"
#include "harness/run/earned_nan.h"
#include "harness/run/envelope.h"
#include "tests/ops/problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace assay::testing {
namespace {

// A trial of the operator alone: its golden, and no target.
Trial trial_of(const OwnedProblem& owned) {
  const Problem& problem = owned.problem;
  Trial trial;
  trial.plan.pass = problem.pass;
  trial.plan.dtype = problem.dtype;
  trial.plan.dims = problem.dims;
  trial.plan.params = problem.params;
  for (const Tensor* tensor : problem.tensors) trial.inputs.push_back(*tensor);
  trial.golden = owned.evaluate(golden);
  return trial;
}

std::vector<Instrument> instruments_of(const Op& op, const Trial& trial) {
  Manifest manifest;
  manifest.dims.resize(1);
  manifest.dims.front().near = {2};
  return envelope_instruments(op.info(), manifest, trial.plan, all_approximate);
}

// How many evaluations were looked at.
int expect_all_earned(const OwnedProblem& owned) {
  const Trial trial = trial_of(owned);
  int evaluations = 0;
  for (const Instrument& instrument : instruments_of(owned.op, trial)) {
    const std::vector<Evaluated> evaluated = owned.evaluate(instrument);
    ++evaluations;
    for (std::size_t i = 0; i < evaluated.size(); ++i)
      EXPECT_EQ(unearned_nan(owned.op, trial, i, evaluated[i].value), -1)
          << owned.op.info().name << " " << evaluated[i].tensor << " " << describe(instrument) << " ways "
          << instrument.narrowed << " of " << ::testing::PrintToString(owned.problem.dims) << " params "
          << ::testing::PrintToString(owned.problem.params);
    if (::testing::Test::HasFailure()) break;
  }
  return evaluations;
}

enum class Fill { zero, constant, mixed };

// Every real tensor of 0, or of what is as large or small as is not yet extreme, or as its type can be.
void fill_real(OwnedProblem& owned, std::mt19937_64& engine, Fill fill) {
  owned.fill("zero", engine());
  constexpr double values[] = {0, 1, -3, 0x1.8p-39, 0x1.8p39, -0x1.8p39, 0x1p-20, 60000};
  for (const TensorInfo& info : owned.op.info().tensors) {
    const bool real = info.domain.kind == Domain::Kind::real || info.domain.kind == Domain::Kind::quantizable;
    const bool given =
        info.role == Role::input || (owned.problem.pass == Pass::backward && info.role == Role::upstream);
    if (!real || !given) continue;
    const DType dtype = info.dtype.value_or(owned.problem.dtype);
    const double largest = format_of(dtype).largest;
    std::vector<double> filled(owned.values(info.name).size());
    double value = 0;
    for (std::size_t k = 0; k < filled.size(); ++k) {
      if (fill == Fill::mixed || (fill == Fill::constant && k == 0))
        value = std::clamp(round_value(dtype, values[engine() % std::size(values)]), -largest, largest);
      filled[k] = value;
    }
    owned.set(info.name, filled);
  }
}

std::vector<std::vector<std::int64_t>> sizes_of(const OpInfo& info) {
  std::vector<std::int64_t> least, three;
  for (const DimInfo& dim : info.dims) {
    least.push_back(std::max<std::int64_t>(dim.min, dim.multiple_of));
    three.push_back(3 * dim.multiple_of);
  }
  std::vector<std::vector<std::int64_t>> sizes{least, three, least, least};
  sizes[2].front() = three.front();
  sizes[3].back() = three.back();
  return sizes;
}

TEST(EarnedNaN, NoLegalEvaluationHasAnother) {
  std::mt19937_64 engine(5);
  int evaluations = 0;
  for (const Op* op : all_ops())
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64})
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        if (pass == Pass::backward && !op->info().has_backward) continue;
        for (const std::vector<std::int64_t>& sizes : sizes_of(op->info()))
          for (const double eps : {-1.0, 0x1p-39, 0x1p-120, 0.0})
            for (int draw = 0; draw < 13; ++draw) {
              OwnedProblem owned(*op, pass, dtype, sizes);
              bool has_eps = false;
              for (std::size_t k = 0; k < op->info().params.size(); ++k)
                if (eps >= 0 && is_float(op->info().params[k].dtype))
                  owned.problem.params[k] = eps, has_eps = true;
              if (eps >= 0 && !has_eps) break;
              fill_real(owned, engine, draw == 0 ? Fill::zero : draw % 2 == 0 ? Fill::mixed : Fill::constant);
              evaluations += expect_all_earned(owned);
              if (HasFailure()) return;
            }
      }
  EXPECT_GT(evaluations, 500'000);
}

// rstd is 2^60 on a row of zeros. Its cube, taken first as autograd has it, is infinite, and times a mean of
// 0 NaN: a kernel's is to be explained.
TEST(EarnedNaN, TheCubeOfRstdOverflowsWhereEpsIsTiny) {
  OwnedProblem owned(*find_op("rmsnorm"), Pass::backward, DType::f32, {1, 1});
  owned.fill("zero", 1).set("grad_y", {1});
  owned.problem.params = {0x1p-120};
  Trial trial = trial_of(owned);
  EXPECT_EQ(trial.golden.front().value.front(), 0);
  const std::vector<Instrument> instruments = instruments_of(owned.op, trial);
  const auto by_cube = std::ranges::find_if(instruments, [&](const Instrument& instrument) {
    return std::isnan(owned.evaluate(instrument).front().value.front());
  });
  ASSERT_NE(by_cube, instruments.end());
  EXPECT_EQ(by_cube->narrowed, products_last);
  EXPECT_EQ(owned.op.info().backward_algorithms[static_cast<std::size_t>(by_cube->algorithm)], "rstd_cubed");

  TensorReport report;
  report.name = "grad_x";
  trial.tensors.assign(2, report);
  trial.target = {{std::numeric_limits<double>::quiet_NaN()}, {0}};
  Violation violation;
  violation.signature.kind = Kind::structure;
  violation.report = 0;
  EXPECT_TRUE(needs_confirmation(owned.op, trial, violation));
  trial.plan.params = {1e-6};
  EXPECT_FALSE(needs_confirmation(owned.op, trial, violation));
}

} // namespace
} // namespace assay::testing
