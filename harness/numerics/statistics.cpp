#include "harness/numerics/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {

namespace {

// sqrt(mean x^2), scaled by the largest so that no square overflows or vanishes.
double root_mean_square(const std::vector<double>& magnitudes) {
  const double largest = magnitudes.empty() ? 0 : std::ranges::max(magnitudes);
  if (largest == 0) return 0;
  double sum = 0;
  for (const double x : magnitudes) sum += (x / largest) * (x / largest);
  return largest * std::sqrt(sum / static_cast<double>(magnitudes.size()));
}

} // namespace

RmsErrors rms_errors(const Comparands& comparands) {
  const std::vector<double> of_target = absolute_errors(comparands, comparands.target);
  RmsErrors result;
  result.count = static_cast<std::int64_t>(of_target.size());
  result.target = root_mean_square(of_target);
  result.reference = root_mean_square(absolute_errors(comparands, comparands.reference));
  if (result.reference != 0)
    result.ratio = result.target / result.reference;
  else if (result.target != 0)
    result.ratio = std::numeric_limits<double>::infinity();
  return result;
}

std::vector<double> absolute_errors(const Comparands& c, std::span<const double> values) {
  std::vector<double> errors;
  errors.reserve(values.size());
  for_each_counted(c, [&](std::size_t i, double, double low) {
    const double g = comparable_golden(c.dtype, c.golden[i]);
    if (std::isfinite(values[i])) errors.push_back(std::fabs(values[i] - g - low));
  });
  return errors;
}

std::vector<double> quantiles(std::vector<double> sample, std::span<const double> probabilities) {
  std::ranges::sort(sample);
  std::vector<double> result;
  for (const double p : probabilities) {
    if (sample.empty()) {
      result.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const double position = std::clamp(p, 0.0, 1.0) * static_cast<double>(sample.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sample.size() - 1);
    const double part = position - static_cast<double>(below);
    result.push_back(part == 0 ? sample[below] : sample[below] + part * (sample[above] - sample[below]));
  }
  return result;
}

} // namespace assay
