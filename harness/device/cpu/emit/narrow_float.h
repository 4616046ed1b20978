// Rounding of a real number, given exactly as a double, to a binary format: the one routine behind every
// conversion that LLVM has no instruction for.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace assay::cpu {

enum class Round : std::uint8_t { nearest_even, toward_zero, down, up, nearest_away, odd };

struct Format {
  int significand_bits; // without the leading one
  int min_exponent;     // of the smallest normal number
  int max_exponent;     // of the largest
};

inline constexpr Format format_f32{23, -126, 127}, format_f16{10, -14, 15}, format_bf16{7, -126, 127},
    format_tf32{10, -126, 127}, format_e4m3{3, -6, 8}, format_e5m2{2, -14, 15};

// x rounded to the format as if its exponent had no upper limit: a caller handles overflow. NaN and
// infinities pass.
inline double round_to(double x, const Format& format, Round mode) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  std::frexp(x, &exponent); // |x| in [2^(exponent-1), 2^exponent)
  const int lowest = format.min_exponent - format.significand_bits;
  const int quantum = std::max(exponent - 1 - format.significand_bits, lowest);
  const double scaled = std::ldexp(std::fabs(x), -quantum); // below 2^54, so all steps are exact
  const double whole = std::floor(scaled);
  const double rest = scaled - whole;
  const bool odd = std::fmod(whole, 2.0) != 0;
  bool up = false;
  switch (mode) {
  case Round::nearest_even:
    up = rest > 0.5 || (rest == 0.5 && odd);
    break;
  case Round::nearest_away:
    up = rest >= 0.5;
    break;
  case Round::toward_zero:
    up = false;
    break;
  case Round::down:
    up = rest > 0 && x < 0;
    break;
  case Round::up:
    up = rest > 0 && x > 0;
    break;
  case Round::odd:
    up = rest > 0 && !odd;
    break;
  }
  return std::copysign(std::ldexp(whole + (up ? 1 : 0), quantum), x);
}

inline double largest_of(const Format& format) {
  return std::ldexp(2.0 - std::ldexp(1.0, -format.significand_bits), format.max_exponent);
}

// With overflow: to infinity, or to the largest number where the mode points away from infinity.
inline double round_with_overflow(double x, const Format& format, Round mode) {
  const double rounded = round_to(x, format, mode);
  if (!std::isfinite(rounded) || std::fabs(rounded) <= largest_of(format)) return rounded;
  const bool finite = mode == Round::toward_zero || mode == Round::odd || (mode == Round::down && x > 0) ||
                      (mode == Round::up && x < 0);
  return std::copysign(finite ? largest_of(format) : INFINITY, x);
}

} // namespace assay::cpu
