// The inner loop of the gate: the largest errors over a range of elements.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace assay {

// Maxima of magnitudes over a range of elements. They are kept as bit patterns: those of non-negative doubles
// are ordered like the doubles, with infinity and then NaN above them, so one integer maximum, which
// vectorises, also tells whether everything was finite.
struct Maxima {
  std::uint64_t reference = 0, rounding = 0, target = 0, golden = 0, bound = 0, magnitude = 0;

  void join(const Maxima& other) {
    reference = std::max(reference, other.reference);
    rounding = std::max(rounding, other.rounding);
    target = std::max(target, other.target);
    golden = std::max(golden, other.golden);
    bound = std::max(bound, other.bound);
    magnitude = std::max(magnitude, other.magnitude);
  }
  bool finite() const {
    constexpr std::uint64_t infinity = 0x7ff0000000000000;
    return reference < infinity && rounding < infinity && target < infinity && golden < infinity;
  }
};

inline std::uint64_t magnitude_bits(double x) {
  return std::bit_cast<std::uint64_t>(x) & ~(std::uint64_t{1} << 63);
}
inline double as_double(std::uint64_t bits) { return std::bit_cast<double>(bits); }

// What the passes read: pointers, each null where its span is empty.
struct ComparandArrays {
  const double *golden, *low, *bound, *magnitude, *reference, *target, *envelope, *rounded;
  const std::uint64_t* judged; // all ones or zero, one an element; null: all are
};

// Over the judged elements of [begin, end). magnitude: of |g| where none is given.
Maxima maxima_of(const ComparandArrays& arrays, std::size_t begin, std::size_t end);

} // namespace assay
