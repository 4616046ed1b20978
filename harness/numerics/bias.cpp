#include "harness/numerics/bias.h"

#include "harness/base/check.h"
#include "harness/numerics/formats.h"
#include "harness/numerics/ulp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace assay {

bool bias_applies(DType type) {
  return type == DType::f16 || type == DType::bf16 || type == DType::f8e4m3 || type == DType::f8e5m2;
}

void pool(SignedErrors& into, const Comparands& c, std::span<const double> values, double least) {
  const double largest = format_of(c.dtype).largest;
  for_each_counted(c, [&](std::size_t i, double rounded, double low) {
    const double g = c.golden[i];
    if ((rounded == g && low == 0) || std::fabs(g) > largest || std::fabs(g) < least ||
        !std::isfinite(values[i]))
      return;
    into.golden.push_back(g);
    into.error.push_back(signed_error_in_ulps(c.dtype, g, low, values[i]));
  });
}

double least_unflushed(double flush_terms) { return 0x1p-126 * 0x1p16 * flush_terms; }

MeanError mean_error(const SignedErrors& errors) {
  ASSAY_CHECK(errors.golden.size() == errors.error.size(), "{} values, {} errors", errors.golden.size(),
              errors.error.size());
  MeanError result;
  const std::size_t count = errors.error.size();
  result.count = static_cast<std::int64_t>(count);
  result.standard_error = std::numeric_limits<double>::infinity();
  if (count == 0) return result;
  result.mean = std::accumulate(errors.error.begin(), errors.error.end(), 0.0) / static_cast<double>(count);

  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return errors.golden[i]; });
  double squares = 0;
  for (std::size_t i = 0; i < count;) {
    const double g = errors.golden[order[i]];
    double group = 0;
    for (; i < count && errors.golden[order[i]] == g; ++i) group += errors.error[order[i]] - result.mean;
    squares += group * group;
    ++result.distinct;
  }
  if (result.distinct < 2) return result;
  const auto distinct = static_cast<double>(result.distinct);
  result.standard_error = std::sqrt(distinct / (distinct - 1) * squares) / static_cast<double>(count);
  return result;
}

BiasResult check_bias(const MeanError& target, std::span<const MeanError> legal) {
  ASSAY_CHECK(!legal.empty(), "no legal order to compare with");
  BiasResult result;
  result.target = target;
  result.enough = target.count >= bias_min_elements;
  result.biased = result.enough && std::fabs(target.mean) > bias_limit;
  for (const MeanError& order : legal) {
    if (std::fabs(order.mean) > std::fabs(result.largest_legal_mean)) result.largest_legal_mean = order.mean;
    if (order.count < bias_min_elements) result.enough = result.biased = false;
    const double error = std::hypot(target.standard_error, order.standard_error);
    if (!(std::fabs(order.mean) < legal_bias_limit &&
          std::fabs(target.mean - order.mean) > bias_sigmas * error))
      result.biased = false;
  }
  return result;
}

} // namespace assay
