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

namespace {

double rounding_of(DType type, double golden) {
  const double size = std::fabs(golden);
  if (size < format_of(type).min_normal) return size;
  int exponent = 0;
  return 2 * std::frexp(size, &exponent);
}

} // namespace

void pool(SignedErrors& into, const Comparands& c, std::span<const double> values, double least,
          std::span<const std::uint8_t> decided) {
  const double largest = format_of(c.dtype).largest;
  for_each_counted(c, [&](std::size_t i, double rounded, double low) {
    const double g = c.golden[i];
    if ((rounded == g && low == 0) || std::fabs(g) > largest || std::fabs(g) < least ||
        !std::isfinite(values[i]) || (!decided.empty() && decided[i] == 0))
      return;
    into.rounding.push_back(rounding_of(c.dtype, g));
    into.error.push_back(signed_error_in_ulps(c.dtype, g, low, values[i]));
  });
}

std::vector<std::uint8_t> decided_roundings(const Comparands& c, std::span<const double> rounded) {
  std::vector<std::uint8_t> decided(rounded.size());
  for (std::size_t i = 0; i < rounded.size(); ++i) {
    const double g = c.golden[i], low = c.golden_low.empty() ? 0 : c.golden_low[i];
    const double size = c.magnitude.empty() ? std::fabs(g) : c.magnitude[i];
    const double to_tie = spacing(c.dtype, g) / 2 - std::fabs((rounded[i] - g) - low);
    decided[i] = 0x1p-24 * size < to_tie;
  }
  return decided;
}

void keep_decided(std::span<const double> rounded, std::span<const double> legal,
                  std::span<std::uint8_t> decided) {
  ASSAY_CHECK(rounded.size() == legal.size() && decided.size() == legal.size(), "{}, {} and {} elements",
              rounded.size(), legal.size(), decided.size());
  for (std::size_t i = 0; i < legal.size(); ++i) decided[i] &= rounded[i] == legal[i];
}

double least_unflushed(double flush_terms) { return 0x1p-126 * 0x1p16 * flush_terms; }

MeanError mean_error(const SignedErrors& errors) {
  ASSAY_CHECK(errors.rounding.size() == errors.error.size(), "{} values, {} errors", errors.rounding.size(),
              errors.error.size());
  MeanError result;
  const std::size_t count = errors.error.size();
  result.count = static_cast<std::int64_t>(count);
  result.standard_error = std::numeric_limits<double>::infinity();
  if (count == 0) return result;
  result.mean = std::accumulate(errors.error.begin(), errors.error.end(), 0.0) / static_cast<double>(count);

  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return errors.rounding[i]; });
  double squares = 0;
  for (std::size_t i = 0; i < count;) {
    const double rounding = errors.rounding[order[i]];
    double group = 0;
    for (; i < count && errors.rounding[order[i]] == rounding; ++i)
      group += errors.error[order[i]] - result.mean;
    squares += group * group;
    ++result.distinct;
  }
  if (result.distinct < 2) return result;
  const auto distinct = static_cast<double>(result.distinct);
  result.standard_error = std::sqrt(distinct / (distinct - 1) * squares) / static_cast<double>(count);
  return result;
}

BiasResult check_bias(const MeanError& target, const MeanError& legal) {
  BiasResult result;
  result.enough = target.count >= bias_min_elements && legal.count >= bias_min_elements;
  const double error = std::hypot(target.standard_error, legal.standard_error);
  result.biased = result.enough && std::fabs(target.mean) > bias_limit &&
                  std::fabs(legal.mean) < legal_bias_limit &&
                  std::fabs(target.mean - legal.mean) > bias_sigmas * error;
  return result;
}

} // namespace assay
