#include "harness/numerics/ulp.h"

#include "harness/base/check.h"
#include "harness/numerics/formats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace assay {

namespace {

constexpr std::uint64_t not_comparable = std::numeric_limits<std::uint64_t>::max();

// The rank of a value of a floating type. For all but f64 the type's own bits are spelt out of the double's.
std::int64_t rank_of(DType type, double x) { return ordered(type, to_bits(type, x)); }

// f32 is the type of most elementwise outputs; its loops must vectorise.
std::int64_t rank_of_float(double x) {
  const std::int32_t bits = std::bit_cast<std::int32_t>(static_cast<float>(x));
  const std::int32_t magnitude = bits & 0x7fffffff;
  return bits < 0 ? -magnitude : magnitude;
}

} // namespace

std::int64_t ordered(DType type, std::uint64_t bits) {
  if (!is_float(type)) {
    switch (type) {
    case DType::i64:
      return static_cast<std::int64_t>(bits);
    case DType::i32:
      return static_cast<std::int32_t>(bits);
    case DType::i8:
      return static_cast<std::int8_t>(bits);
    default:
      return static_cast<std::uint8_t>(bits);
    }
  }
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(type) - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

std::uint64_t ulp_distance(DType type, double a, double b) {
  if (a != a || b != b) return (a != a) == (b != b) ? 0 : not_comparable;
  const std::int64_t rank_a = type == DType::f32 ? rank_of_float(a) : rank_of(type, a);
  const std::int64_t rank_b = type == DType::f32 ? rank_of_float(b) : rank_of(type, b);
  const auto low = static_cast<std::uint64_t>(std::min(rank_a, rank_b));
  return static_cast<std::uint64_t>(std::max(rank_a, rank_b)) - low;
}

double spacing(DType type, double x) {
  const Format& format = format_of(type);
  const double magnitude = std::fabs(x);
  if (!(magnitude >= format.min_normal)) return format.min_subnormal;
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(magnitude) >> 52) - 1023;
  return Format::power_of_two(std::min(exponent, format.max_exponent) - format.precision + 1);
}

double signed_error_in_ulps(DType type, double golden, double golden_low, double target) {
  const double error = (target - golden - golden_low) / spacing(type, golden);
  return golden < 0 ? -error : error;
}

UlpResult check_ulps(DType type, std::span<const double> rounded, std::span<const double> target,
                     std::span<const std::uint64_t> legal_distance, double limit,
                     std::span<const std::uint8_t> excluded) {
  ASSAY_CHECK(target.size() == rounded.size() && legal_distance.size() == rounded.size() &&
                  (excluded.empty() || excluded.size() == rounded.size()),
              "arrays of different lengths");
  UlpResult result;
  for (std::size_t i = 0; i < rounded.size(); ++i) {
    if (rounded[i] != rounded[i] || target[i] != target[i] || (!excluded.empty() && excluded[i])) continue;
    const std::uint64_t distance = ulp_distance(type, rounded[i], target[i]);
    const std::uint64_t legal =
        legal_distance[i] > not_comparable / 2 ? not_comparable : 2 * legal_distance[i];
    if (static_cast<double>(distance) <= limit || distance <= legal) continue;
    ++result.violations;
    if (distance <= result.worst_distance) continue;
    result.worst_element = static_cast<std::int64_t>(i);
    result.worst_distance = distance;
    result.allowed = std::max(static_cast<std::uint64_t>(limit), legal);
  }
  return result;
}

void widen_distances(DType type, std::span<const double> rounded, std::span<const double> values,
                     std::span<std::uint64_t> legal_distance) {
  ASSAY_CHECK(values.size() == rounded.size() && legal_distance.size() == rounded.size(),
              "arrays of different lengths");
  for (std::size_t i = 0; i < rounded.size(); ++i)
    if (rounded[i] == rounded[i] && values[i] == values[i])
      legal_distance[i] = std::max(legal_distance[i], ulp_distance(type, rounded[i], values[i]));
}

} // namespace assay
