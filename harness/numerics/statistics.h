// What a maximum cannot see: RMS errors and quantiles of one floating output (method: sections 3 and 5).
#pragma once

#include "harness/numerics/errors.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay {

struct RmsErrors {
  double target = 0; // sqrt(mean (t - g)^2) over the elements that are finite in g, G, r and t
  double reference = 0;
  double ratio = 1; // target / reference; 1 where both are 0, infinity where only the reference is
  std::int64_t count = 0;
};
RmsErrors rms_errors(const Comparands& comparands);

// |values - g| of the same elements, for quantiles.
std::vector<double> absolute_errors(const Comparands& comparands, std::span<const double> values);

// The quantiles at `probabilities` (0 to 1) of a sample, interpolated linearly between order statistics (type
// 7 of Hyndman and Fan, 1996). NaN for an empty sample. The sample must hold no NaN.
std::vector<double> quantiles(std::vector<double> sample, std::span<const double> probabilities);

} // namespace assay
