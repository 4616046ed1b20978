// How an error grows with the reduction length: the fit of log error to log length (method: section 5).
#pragma once

#include <cstdint>
#include <span>

namespace assay {

struct GrowthPoint {
  double length = 0; // T
  double error = 0;  // RMS error, or |mean signed error| over sum|term|
};

struct Growth {
  bool valid = false; // at least five lengths with a positive error; else the other fields mean nothing
  int points = 0;     // with a positive, finite error
  int lengths = 0;    // distinct
  double slope = 0;
  double standard_error = 0;
  double half_width = 0; // of the 99 % interval of the slope: t(0.995, points - 2) * standard_error
};
// Ordinary least squares of log(error) on log(length).
Growth fit_growth(std::span<const GrowthPoint> points);

// The target's slope exceeds the legal one by more than 0.25 outside the 99 % interval: the lower end of the
// interval of the difference, (target - legal) - t * sqrt(se_target^2 + se_legal^2), with the smaller fit's
// degrees of freedom, lies above 0.25. Both fits must be valid. Give the steepest legal one.
bool grows_faster(const Growth& target, const Growth& legal);

// The p-quantile of Student's t distribution, 0.5 <= p < 1.
double student_t_quantile(double p, double degrees_of_freedom);

} // namespace assay
