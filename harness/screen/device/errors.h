// What is kept of an output while its elements pass by: maxima of magnitudes, as the upper words of doubles,
// which are ordered as the doubles are and tell them apart to one part in a million.
#pragma once

#include <cstdint>

namespace assay::screen {

inline constexpr std::uint32_t infinite_word = 0x7ff00000;

inline std::uint32_t magnitude_word(double x) {
  return static_cast<std::uint32_t>(__double2hiint(x)) & 0x7fffffff;
}
// The least and the largest magnitude with that upper word.
inline double at_least(std::uint32_t word) { return __hiloint2double(static_cast<int>(word), 0); }
inline double at_most(std::uint32_t word) {
  return word == 0 ? 0 : __hiloint2double(static_cast<int>(word), -1);
}

inline void raise(std::uint32_t& top, std::uint32_t word) { top = word > top ? word : top; }
// By x's magnitude; NaN and infinities are above all. The upper words of doubles below 2^1017 are ordered as
// floats too, whose maximum takes a sign off and keeps NaN in one instruction.
template <bool wide> void raise_by(std::uint32_t& top, double x) {
  if constexpr (wide) {
    raise(top, magnitude_word(x));
  } else {
    float result = __uint_as_float(top);
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(result) : "f"(std::fabs(__int_as_float(__double2hiint(x)))));
    top = __float_as_uint(result);
  }
}

// Over the elements that take part in the numbers; differs: somewhere t is not r.
struct Maxima {
  std::uint32_t target = 0, reference = 0, rounding = 0, magnitude = 0;
  std::uint32_t differs = 0;

  std::uint32_t largest() const {
    std::uint32_t top = target;
    for (const std::uint32_t word : {reference, rounding, magnitude}) raise(top, word);
    return top;
  }
  void join(const Maxima& other) {
    raise(target, other.target);
    raise(reference, other.reference);
    raise(rounding, other.rounding);
    raise(magnitude, other.magnitude);
    differs |= other.differs;
  }
};

// Of one line; its elements are those from first to last, if there are as many.
struct LineErrors {
  Maxima maxima;
  std::int32_t count = 0, first = 0x7fffffff, last = -1;

  void join(const LineErrors& other) {
    maxima.join(other.maxima);
    count += other.count;
    first = other.first < first ? other.first : first;
    last = other.last > last ? other.last : last;
  }
};

// Of a whole output.
struct OutputErrors {
  Maxima maxima;
  std::uint32_t scale = 0; // of g
  std::uint32_t ulps = 0;  // of t, where it is neither within the limit nor within twice the reference's
  std::int32_t count = 0;  // elements stored
  // Signed errors in output ULPs, away from zero, over `rounded` elements. Of `unclear` ones it is not known
  // whether the host's golden is representable, and so whether they take part: magnitudes, of the target's
  // errors and of their differences from the reference's.
  std::int32_t rounded = 0, unclear = 0;
  float target_bias = 0, reference_bias = 0, unclear_target = 0, unclear_difference = 0;

  void join(const OutputErrors& other) {
    maxima.join(other.maxima);
    raise(scale, other.scale);
    raise(ulps, other.ulps);
    count += other.count;
    rounded += other.rounded;
    unclear += other.unclear;
    target_bias += other.target_bias;
    reference_bias += other.reference_bias;
    unclear_target += other.unclear_target;
    unclear_difference += other.unclear_difference;
  }
};

// As it lies in scratch until the tensor's largest reference error is known.
struct LineRecord {
  std::uint32_t target, reference, rounding, magnitude; // upper bit of target: differs
};

} // namespace assay::screen
