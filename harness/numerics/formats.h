// Floating formats as numbers: every bit pattern of a DType is a double, and a double rounds once, nearest
// even, to the type. Scalar functions here; whole arrays in bulk.h. Nothing rounds through an intermediate
// format.
#pragma once

#include "harness/numerics/double_double.h"
#include "harness/numerics/dtype.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay {

// What a value above the largest finite becomes when it is rounded to the type.
enum class Overflow : std::uint8_t { to_infinity, saturate };

// IEEE 754-2019 binary64/32/16; bfloat16; OCP 8-bit floating point (OFP8) 1.0, E4M3 and E5M2.
struct Format {
  int precision = 0;     // significand bits, the implicit one included
  int min_exponent = 0;  // of the smallest normal number 2^min_exponent
  int max_exponent = 0;  // of the largest binade
  double largest = 0;    // the largest finite value
  double min_normal = 0; // 2^min_exponent
  double min_subnormal = 0;
  Overflow overflow = Overflow::to_infinity;

  // Half the spacing above `largest`: at largest + edge_gap and above a value rounds to infinity (or
  // saturates).
  constexpr double edge_gap() const { return power_of_two(max_exponent - precision); }

  static constexpr double power_of_two(int exponent) {
    if (exponent >= -1022) return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
    return std::bit_cast<double>(std::uint64_t{1} << (exponent + 1074));
  }

  static constexpr Format ieee(int precision, int max_exponent, Overflow overflow = Overflow::to_infinity,
                               int missing_codes = 0) {
    Format format;
    format.precision = precision;
    format.min_exponent = 1 - max_exponent;
    format.max_exponent = max_exponent;
    format.largest = power_of_two(max_exponent) * (2 - power_of_two(1 - precision) * (1 + missing_codes));
    format.min_normal = power_of_two(format.min_exponent);
    format.min_subnormal = power_of_two(format.min_exponent - precision + 1);
    format.overflow = overflow;
    return format;
  }
};

template <DType type> constexpr Format format_constant() {
  if constexpr (type == DType::f64) return Format::ieee(53, 1023);
  if constexpr (type == DType::f32) return Format::ieee(24, 127);
  if constexpr (type == DType::f16) return Format::ieee(11, 15);
  if constexpr (type == DType::bf16) return Format::ieee(8, 127);
  if constexpr (type == DType::f8e5m2) return Format::ieee(3, 15);
  // E4M3 has no infinities; its top binade lacks only the code of NaN: bias 7, largest 448 = 1.75 * 2^8.
  if constexpr (type == DType::f8e4m3) {
    Format format = Format::ieee(4, 8, Overflow::saturate, 1);
    format.min_exponent = -6;
    format.min_normal = Format::power_of_two(-6);
    format.min_subnormal = Format::power_of_two(-9);
    return format;
  }
}

// The format of a floating type; asking for an integer type's is our own bug.
const Format& format_of(DType type);

// x rounded to `format`, as a double; NaN stays NaN. Branch-free, so that loops over it vectorise.
inline double round_to(const Format& format, double x) {
  const int shift = 53 - format.precision;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t half = (std::uint64_t{1} << shift) >> 1;
  // Just under a half, and the last kept bit, carry exactly where nearest even rounds up.
  const std::uint64_t carry = half == 0 ? 0 : half - 1 + ((bits >> shift) & 1);
  const double normal = std::bit_cast<double>((bits + carry) & ~((std::uint64_t{1} << shift) - 1));
  const double magnitude = std::fabs(x);
  // At 2^52 times the smallest subnormal, doubles are spaced by exactly that subnormal.
  const double magic = format.min_subnormal * 0x1p52;
  const double tiny = std::copysign((magnitude + magic) - magic, x);
  double rounded = magnitude < format.min_normal ? tiny : normal;
  const double limit =
      format.overflow == Overflow::saturate ? format.largest : std::numeric_limits<double>::infinity();
  rounded = std::fabs(rounded) > format.largest ? std::copysign(limit, x) : rounded;
  return x != x ? x : rounded;
}

// x rounded to the type, as a double; integers: nearest even, saturating, NaN to 0.
double round_value(DType type, double x);
// The same for a double-double (|low| <= ulp(high)/2), with one rounding in all.
double round_value(DType type, DoubleDouble x);
// To the format's precision as if its exponents had no end.
double round_unbounded(const Format& format, double x);

// The bits (in the low size_of(type) bytes) of x rounded to the type. NaN gives the type's quiet NaN.
std::uint64_t to_bits(DType type, double x);
std::uint64_t to_bits(DType type, DoubleDouble x);
// The value of a bit pattern; i64 beyond 2^53 rounds, everything else is exact.
double from_bits(DType type, std::uint64_t bits);

bool is_representable(DType type, double x); // NaN is

} // namespace assay
