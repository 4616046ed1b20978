#include "harness/numerics/slope.h"

#include "harness/base/check.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace assay {

namespace {

// The continued fraction of the incomplete beta function (NIST DLMF 8.17.22), by the modified Lentz method.
double beta_fraction(double x, double a, double b) {
  constexpr double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::fabs(d) < tiny ? tiny : d);
  double h = d;
  for (int m = 1; m <= 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      c = 1 + term / c;
      d = 1 / (std::fabs(d) < tiny ? tiny : d);
      if (std::fabs(c) < tiny) c = tiny;
      h *= d * c;
    }
    if (std::fabs(d * c - 1) < 1e-15) break;
  }
  return h;
}

// I_x(a, b), the regularised incomplete beta function.
double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                   : 1 - front * beta_fraction(1 - x, b, a) / b;
}

constexpr double interval_quantile = 0.995; // two-sided 99 %
constexpr int min_lengths = 5;
constexpr double slope_margin = 0.25;

} // namespace

double student_t_quantile(double p, double degrees_of_freedom) {
  ASSAY_CHECK(p >= 0.5 && p < 1 && degrees_of_freedom > 0, "p {}, {} degrees of freedom", p,
              degrees_of_freedom);
  // P(T <= t) = 1 - I_{v/(v+t^2)}(v/2, 1/2)/2 rises with t.
  const auto below = [degrees_of_freedom, p](double t) {
    const double x = degrees_of_freedom / (degrees_of_freedom + t * t);
    return 1 - incomplete_beta(x, degrees_of_freedom / 2, 0.5) / 2 < p;
  };
  double low = 0, high = 1;
  while (below(high)) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (below(middle) ? low : high) = middle;
  }
  return high;
}

Growth fit_growth(std::span<const GrowthPoint> points) {
  std::vector<double> x, y;
  std::set<double> lengths;
  for (const GrowthPoint& point : points) {
    if (!(point.error > 0) || !std::isfinite(point.error) || !(point.length > 0)) continue;
    x.push_back(std::log(point.length));
    y.push_back(std::log(point.error));
    lengths.insert(point.length);
  }
  Growth growth;
  growth.points = static_cast<int>(x.size());
  growth.lengths = static_cast<int>(lengths.size());
  growth.valid = growth.lengths >= min_lengths;
  if (!growth.valid) return growth;

  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  growth.slope = xy / xx;
  double rest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double residual = y[i] - mean_y - growth.slope * (x[i] - mean_x);
    rest += residual * residual;
  }
  growth.standard_error = std::sqrt(rest / (n - 2) / xx);
  growth.half_width = student_t_quantile(interval_quantile, n - 2) * growth.standard_error;
  return growth;
}

bool grows_faster(const Growth& target, const Growth& legal) {
  if (!target.valid || !legal.valid) return false;
  const double t = student_t_quantile(interval_quantile, std::min(target.points, legal.points) - 2);
  const double half_width = t * std::hypot(target.standard_error, legal.standard_error);
  return target.slope - legal.slope - half_width > slope_margin;
}

} // namespace assay
