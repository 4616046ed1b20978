#include "harness/run/earned_nan.h"

#include "harness/base/check.h"
#include "harness/base/parallel.h"
#include "harness/run/analysis.h"
#include "harness/run/describe.h"

#include <algorithm>
#include <cmath>

namespace assay {

bool has_extreme_inputs(const Op& op, const Trial& trial, double reach) {
  const auto beyond = [&](double x) {
    return !(std::fabs(x) < reach) || (x != 0 && std::fabs(x) < 1 / reach);
  };
  const std::vector<double>& params = trial.plan.params;
  for (std::size_t k = 0; k < params.size(); ++k)
    if (is_float(op.info().params[k].dtype) && (params[k] == 0 || beyond(params[k]))) return true;
  return std::ranges::any_of(trial.inputs, [&](const Tensor& input) {
    return is_float(input.dtype) && !input.bytes.empty() && std::ranges::any_of(widen(input), beyond);
  });
}

namespace {

constexpr double reach = 0x1p40;

bool has_extremes(const Op& op, const Trial& trial, std::size_t i) {
  return has_extreme_inputs(op, trial, reach) ||
         std::ranges::any_of(trial.golden[i].magnitude, [](double m) { return !(m < reach); });
}

} // namespace

std::int64_t unearned_nan(const Op& op, const Trial& trial, std::size_t i, std::span<const double> values) {
  const Evaluated& golden = trial.golden[i];
  const auto unearned = [&](std::size_t k) {
    return std::isnan(values[k]) && std::isfinite(golden.value[k]) &&
           (golden.formula_overflows.empty() || golden.formula_overflows[k] == 0);
  };
  const std::size_t first = first_where(values.size(), least_elements, unearned);
  return first == values.size() || has_extremes(op, trial, i) ? -1 : static_cast<std::int64_t>(first);
}

void expect_earned_nans(const Op& op, const Trial& trial, std::span<const Evaluated> evaluated,
                        const Instrument& instrument) {
  for (std::size_t i = 0; i < evaluated.size(); ++i) {
    const TensorReport& report = trial.tensors[i];
    const std::int64_t element = unearned_nan(op, trial, i, evaluated[i].value);
    ASSAY_CHECK(element < 0,
                "operator {}: {} is NaN evaluated as '{}', where the golden is {} and nothing overflows",
                op.info().name, element_text(report.name, report.shape, element),
                name_of(instrument, op.info(), report.pass),
                value_text(trial.golden[i].value[static_cast<std::size_t>(element)]));
  }
}

} // namespace assay
