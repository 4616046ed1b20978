// Is the gate valid? (method: section 4)
#pragma once

#include <span>

namespace assay {

// reference_error / max(golden_scale, absolute_floor); 0 where reference_error is 0.
double reference_relative_error(double reference_error, double golden_scale, double absolute_floor);

// sum|term| / |sum term|, both sums in double-double; 1 for no terms or only zeros, infinity where they
// cancel exactly.
double condition_number(std::span<const double> terms);

} // namespace assay
