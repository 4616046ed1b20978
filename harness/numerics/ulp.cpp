#include "harness/numerics/ulp.h"

#include "harness/base/check.h"
#include "harness/base/parallel.h"
#include "harness/numerics/formats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace assay {

namespace {

constexpr std::uint64_t not_comparable = std::numeric_limits<std::uint64_t>::max();

// The rank of a value of the type. Those of the types of most outputs must vectorise.
template <DType type> std::int64_t rank_of(double x) {
  if constexpr (type == DType::f32 || type == DType::bf16 || type == DType::f16) {
    const std::int32_t bits = std::bit_cast<std::int32_t>(static_cast<float>(x)); // exact
    std::int32_t magnitude = bits & 0x7fffffff;
    if constexpr (type == DType::bf16) magnitude >>= 16;
    if constexpr (type == DType::f16) {
      const float scaled =
          std::bit_cast<float>(magnitude) * 0x1p-112f; // exact: the exponent as a half has it
      magnitude = magnitude < 0x7f800000 ? std::bit_cast<std::int32_t>(scaled) >> 13 : 0x7c00;
    }
    return bits < 0 ? -magnitude : magnitude;
  } else {
    return ordered(type, to_bits(type, x));
  }
}

template <DType type> std::uint64_t distance_of(double a, double b) {
  const std::int64_t rank_a = rank_of<type>(a), rank_b = rank_of<type>(b);
  const std::uint64_t distance = static_cast<std::uint64_t>(std::max(rank_a, rank_b)) -
                                 static_cast<std::uint64_t>(std::min(rank_a, rank_b));
  const std::uint64_t with_nan = (a != a) == (b != b) ? 0 : not_comparable;
  return a != a || b != b ? with_nan : distance;
}

// run.operator()<type>() for the type.
template <class Run> auto with_type(DType type, Run run) {
  switch (type) {
  case DType::f64:
    return run.template operator()<DType::f64>();
  case DType::f32:
    return run.template operator()<DType::f32>();
  case DType::f16:
    return run.template operator()<DType::f16>();
  case DType::bf16:
    return run.template operator()<DType::bf16>();
  case DType::f8e4m3:
    return run.template operator()<DType::f8e4m3>();
  case DType::f8e5m2:
    return run.template operator()<DType::f8e5m2>();
  case DType::i64:
    return run.template operator()<DType::i64>();
  case DType::i32:
    return run.template operator()<DType::i32>();
  case DType::i8:
    return run.template operator()<DType::i8>();
  case DType::u8:
    return run.template operator()<DType::u8>();
  }
  ASSAY_CHECK(false, "no such type: {}", static_cast<int>(type));
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
  return with_type(type, [=]<DType of>() { return distance_of<of>(a, b); });
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
  std::vector<std::uint64_t> distance(rounded.size());
  widen_distances(type, rounded, target, distance);
  for (std::size_t i = 0; i < rounded.size(); ++i) {
    if (static_cast<double>(distance[i]) <= limit || (!excluded.empty() && excluded[i])) continue;
    const std::uint64_t legal =
        legal_distance[i] > not_comparable / 2 ? not_comparable : 2 * legal_distance[i];
    if (distance[i] <= legal) continue;
    ++result.violations;
    if (distance[i] <= result.worst_distance) continue;
    result.worst_element = static_cast<std::int64_t>(i);
    result.worst_distance = distance[i];
    result.allowed = std::max(static_cast<std::uint64_t>(limit), legal);
  }
  return result;
}

void widen_distances(DType type, std::span<const double> rounded, std::span<const double> values,
                     std::span<std::uint64_t> legal_distance) {
  ASSAY_CHECK(values.size() == rounded.size() && legal_distance.size() == rounded.size(),
              "arrays of different lengths");
  with_type(type, [&]<DType of>() {
    in_ranges(rounded.size(), least_elements, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t distance = distance_of<of>(rounded[i], values[i]);
        legal_distance[i] = std::max(legal_distance[i], distance == not_comparable ? 0 : distance);
      }
    });
  });
}

} // namespace assay
