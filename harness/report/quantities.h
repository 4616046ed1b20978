// What the columns of an output's table hold.
#pragma once

#include "harness/run/trial.h"

#include <cmath>
#include <limits>

namespace assay {

// The gate looks at finite elements alone. Where NaN or infinity is out of place no number is the error: it
// is |target - golden| of the first such element, NaN or infinity, and its ratio to any threshold is
// infinite.
inline double told_error(const TensorReport& report, double of_the_gate) {
  return report.comparison.structure.passed() ? of_the_gate : std::abs(report.target - report.golden);
}
inline double told_error(const TensorReport& report) {
  return told_error(report, report.comparison.gate.target_error);
}
inline double told_ratio(const TensorReport& report) {
  return report.comparison.structure.passed() ? report.ratio() : std::numeric_limits<double>::infinity();
}

} // namespace assay
