#include "harness/numerics/statistics.h"
#include "harness/run/describe.h"
#include "harness/run/suspect_tests.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay {

namespace {

constexpr double largest_factor = 0x1p14; // of documented errors; beyond it is another function
constexpr double least_factor = 2;
constexpr std::int64_t least_elements = 8;

} // namespace

Evidences suspect_functions(const Scene& scene) {
  if (scene.trials.empty() || scene.trials.front().report().exact) return {};
  std::vector<double> factors; // error / what functions off by their documented maximum cost, an element
  double unexplained = 0,
         all = 0; // squares of errors in units of S: where functions cost nothing, and everywhere
  for (const FailingTrial& failing : scene.trials) {
    Instrument up, down;
    up.functions = Instrument::Functions::all_up;
    down.functions = Instrument::Functions::all_down;
    const auto high = evaluate_tested(scene.kernel.op(), failing.trial, up)[failing.output].value;
    const auto low = evaluate_tested(scene.kernel.op(), failing.trial, down)[failing.output].value;
    const Comparands comparands = comparands_of(failing.trial, failing.output);
    for_each_counted(comparands, [&](std::size_t k, double, double) {
      const double g = comparands.golden[k], size = std::max(comparands.magnitude[k], 1e-300);
      // The rounding of the output is no function's fault.
      const double error = std::fabs(comparands.target[k] - g) - std::fabs(comparands.reference[k] - g);
      if (!(error > 0) || !std::isfinite(high[k]) || !std::isfinite(low[k])) return;
      const double cost = std::max(std::fabs(high[k] - g), std::fabs(low[k] - g));
      all += (error / size) * (error / size);
      if (cost > 0)
        factors.push_back(error / cost);
      else
        unexplained += (error / size) * (error / size);
    });
  }
  if (std::ssize(factors) < least_elements || unexplained > 0.01 * all) return {};
  const std::vector<double> at = quantiles(factors, std::array{0.5, 0.9, 1.0});
  if (at[2] > largest_factor || at[2] < least_factor || at[2] > 32 * at[1]) return {};
  return {{Cause::approximate_function, 0.55,
           fmt::format("errors follow what the formula's functions may cost: {} elements off by {} times "
                       "what documented function errors make (median {}, 9 in 10 below {})",
                       factors.size(), value_text(at[2]), value_text(at[0]), value_text(at[1]))}};
}

} // namespace assay
