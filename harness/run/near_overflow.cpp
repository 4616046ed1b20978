#include "harness/run/near_overflow.h"

#include "harness/numerics/bulk.h"
#include "harness/numerics/formats.h"
#include "harness/run/earned_nan.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay {

bool only_near_overflow(const Trial& trial, std::size_t i) {
  const Evaluated& golden = trial.golden[i];
  const double near = format_of(trial.tensors[i].dtype).largest / 4;
  for (std::size_t k = 0; k < golden.value.size(); ++k) {
    const double g = golden.value[k], t = trial.target[i][k];
    if (std::isfinite(g) && std::abs(g) < near && !std::isfinite(t) &&
        (golden.formula_overflows.empty() || !golden.formula_overflows[k]))
      return false;
    if (std::isnan(g) != std::isnan(t)) return false;
  }
  return true;
}

bool has_extremes(const Op& op, const Trial& trial, std::size_t i) {
  constexpr double reach = 0x1p60, share_of_rounding = 0x1p-30;
  const double large = format_of(trial.tensors[i].dtype).largest * share_of_rounding;
  return has_extreme_inputs(op, trial, reach) ||
         std::ranges::any_of(trial.golden[i].magnitude, [&](double m) { return !(m < large); });
}

bool within_bound_of_overflow(const Trial& trial, std::size_t i, std::span<const double> envelope,
                              std::span<const double> bounds, const Allowance& allowance) {
  Comparands comparands = comparands_of(trial, i);
  std::vector<double> reach(envelope.begin(), envelope.end());
  for (std::size_t k = 0; k < bounds.size(); ++k)
    if (std::isfinite(comparands.golden[k])) reach[k] = std::max(reach[k], bounds[k]);
  comparands.envelope_error = reach;
  std::vector<double> rounded(reach.size());
  round_values(comparands.dtype, comparands.golden, comparands.golden_low, rounded);
  for (std::size_t k = 0; k < reach.size(); ++k)
    if (standing(comparands, k, rounded[k], allowance) == Standing::wrong) return false;
  return true;
}

} // namespace assay
