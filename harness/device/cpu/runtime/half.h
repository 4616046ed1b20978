// Conversions of half types that the compiler can vectorise. Rounding is to nearest even; NaN becomes 0x7fff,
// as on the hardware.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay::cpu {

inline float f16_to_f32(std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
inline float bf16_to_f32(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

// v rounded to `precision` bits with least exponent `min_exponent` (of the leading bit of the smallest normal
// number).
inline double rounded(double v, unsigned precision, int min_exponent) {
  const std::uint64_t exponent = std::bit_cast<std::uint64_t>(v) & 0x7ff0000000000000u;
  const std::uint64_t least = static_cast<std::uint64_t>(min_exponent + 1023) << 52;
  const std::uint64_t top = std::uint64_t{1023 + 900}
                            << 52; // keeps the shifter finite; far above any half type
  std::uint64_t used = exponent > least ? exponent : least;
  used = used < top ? used : top;
  // 1.5 * 2^52 quanta, a quantum being 2^(exponent - precision + 1)
  const double shifter =
      std::bit_cast<double>(used + (std::uint64_t{52 + 1 - precision} << 52) + 0x0008000000000000u);
  return (v + shifter) - shifter;
}

inline std::uint16_t f64_to_f16(double v) {
  const float exact = static_cast<float>(rounded(v, 11, -14));
  const auto half = std::bit_cast<std::uint16_t>(static_cast<_Float16>(exact));
  const auto sign = static_cast<std::uint16_t>((std::bit_cast<std::uint64_t>(v) >> 48) & 0x8000);
  const auto magnitude = static_cast<std::uint16_t>(half & 0x7fff);
  return v == v ? static_cast<std::uint16_t>(magnitude | sign) : std::uint16_t{0x7fff};
}
inline std::uint16_t f64_to_bf16(double v) {
  const float exact = static_cast<float>(rounded(v, 8, -126));
  const auto half = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(exact) >> 16);
  const auto sign = static_cast<std::uint16_t>((std::bit_cast<std::uint64_t>(v) >> 48) & 0x8000);
  const auto magnitude = static_cast<std::uint16_t>(half & 0x7fff);
  return v == v ? static_cast<std::uint16_t>(magnitude | sign) : std::uint16_t{0x7fff};
}

// a + b rounded to odd: rounding that once more, to at least two bits fewer, is the one rounding that counts
// (Boldo and Melquiond 2008).
inline double add_to_odd(double a, double b) {
  const double sum = a + b;
  const double tail = sum - a;
  const double error = (a - (sum - tail)) + (b - tail);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(sum);
  const bool inexact = error != 0.0 && std::fabs(sum) < std::numeric_limits<double>::infinity();
  const std::uint64_t step = (error > 0.0) == (sum > 0.0) ? 1 : ~std::uint64_t{0};
  return std::bit_cast<double>(inexact && !(bits & 1) ? bits + step : bits);
}

} // namespace assay::cpu
