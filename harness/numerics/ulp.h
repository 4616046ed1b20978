// Distances in representable values, spacings, and the rule for elementwise outputs (method: section 6).
#pragma once

#include "harness/numerics/dtype.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay {

// The rank of a bit pattern among the type's values: neighbours differ by 1, +0 and -0 are both 0, infinities
// stand next to the largest finite value. Meaningless for NaN. Integers are their own rank.
std::int64_t ordered(DType type, std::uint64_t bits);

// How many representable values lie between a and b, one of them included; both are values of the type. NaN
// to NaN is 0, NaN to a number the largest std::uint64_t.
std::uint64_t ulp_distance(DType type, double a, double b);

// The distance between neighbouring values of the type at |x| (above it, where x is a power of two); the
// spacing of subnormals below min_normal, that of the last binade above it.
double spacing(DType type, double x);

// (|t| - |g|) in spacings at g, signed: positive where t lies further from zero than g. g = golden +
// golden_low.
double signed_error_in_ulps(DType type, double golden, double golden_low, double target);

struct UlpResult {
  std::int64_t violations = 0;     // elements over both limits
  std::int64_t worst_element = -1; // largest distance among those; -1 where there are none
  std::uint64_t worst_distance = 0;
  std::uint64_t allowed = 0; // at the worst element: max(limit, twice the legal distance there)
};

// The `ulp` kind: an element is one where its distance to G exceeds `limit` and also twice the largest
// distance there of the reference and of the envelope's instruments. rounded: G. legal_distance: that largest
// distance, one entry an element (see widen_distances). Elements where any of the three is NaN or excluded[i]
// is set are left to structure.
UlpResult check_ulps(DType type, std::span<const double> rounded, std::span<const double> target,
                     std::span<const std::uint64_t> legal_distance, double limit,
                     std::span<const std::uint8_t> excluded = {});

// legal_distance[i] = max(legal_distance[i], distance of values[i] to rounded[i]); NaN counts as no distance.
void widen_distances(DType type, std::span<const double> rounded, std::span<const double> values,
                     std::span<std::uint64_t> legal_distance);

} // namespace assay
