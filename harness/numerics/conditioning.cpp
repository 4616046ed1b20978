#include "harness/numerics/conditioning.h"

#include "harness/numerics/double_double.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {

double reference_relative_error(double reference_error, double golden_scale, double absolute_floor) {
  return reference_error == 0 ? 0 : reference_error / std::max(golden_scale, absolute_floor);
}

double condition_number(std::span<const double> terms) {
  DoubleDouble sum, magnitudes;
  for (const double term : terms) {
    sum += term;
    magnitudes += std::fabs(term);
  }
  if (magnitudes.high == 0) return 1;
  if (sum.high == 0) return std::numeric_limits<double>::infinity();
  return to_double(magnitudes / abs(sum));
}

} // namespace assay
