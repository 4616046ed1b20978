// One value to the bits of a storage type and back, from the few numbers that describe the type: what
// numerics/formats.h does by DType, for code that NVRTC compiles. Rounds once, nearest even.
#pragma once

#include "harness/inputs/philox.h"

#include <cmath>

namespace assay {

struct StorageRule {
  std::int32_t bytes = 4;
  bool floating = true;
  bool saturates = false;      // floats without infinities: above the largest finite value is that value
  std::int32_t precision = 24; // significand bits, the implicit one included
  std::int32_t bias = 127;     // of the exponent
  std::uint64_t quiet_nan = 0;
  double largest = 0;  // finite; integers: the largest
  double smallest = 0; // integers: the smallest
  double min_normal = 0, min_subnormal = 0;
};

namespace storage {

ASSAY_ANYWHERE double nearest_integer(double x) { // ties to even
  const double magnitude = std::fabs(x);
  if (!(magnitude < 0x1p52)) return x;
  const double whole = (magnitude + 0x1p52) - 0x1p52;
  return x < 0 ? -whole : whole;
}

ASSAY_ANYWHERE std::uint64_t integer_bits(const StorageRule& type, double x) {
  if (x != x) return 0;
  double whole = nearest_integer(x);
  whole = whole < type.smallest ? type.smallest : whole > type.largest ? type.largest : whole;
  if (type.bytes == 8)
    return whole >= 0x1p63 ? 0x7fffffffffffffff
                           : static_cast<std::uint64_t>(static_cast<std::int64_t>(whole));
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(whole)) &
         ((std::uint64_t{1} << 8 * type.bytes) - 1);
}

} // namespace storage

// x rounded to the type.
ASSAY_ANYWHERE std::uint64_t storage_bits(const StorageRule& type, double x) {
  if (!type.floating) return storage::integer_bits(type, x);
  if (x != x) return type.quiet_nan;
  const auto bits = __builtin_bit_cast(std::uint64_t, x);
  if (type.precision == 53) return bits;
  const std::uint64_t sign = bits >> 63 << (8 * type.bytes - 1);
  const std::uint64_t magnitude = bits & 0x7fffffffffffffff;
  const int fraction_bits = type.precision - 1;
  std::uint64_t code = 0;
  const double value = __builtin_bit_cast(double, magnitude);
  if (value < type.min_normal) {
    code = static_cast<std::uint64_t>(storage::nearest_integer(value / type.min_subnormal));
  } else {
    const int shift = 52 - fraction_bits;
    const std::uint64_t carry = (std::uint64_t{1} << (shift - 1)) - 1 + ((magnitude >> shift) & 1);
    code = ((magnitude + carry) >> shift) - (static_cast<std::uint64_t>(1023 - type.bias) << fraction_bits);
  }
  const std::uint64_t above = (std::uint64_t{1} << (8 * type.bytes - 1)) - 1;
  const std::uint64_t infinity =
      type.saturates ? above : (above >> fraction_bits) << fraction_bits; // saturating: NaN's code
  if (code >= infinity) code = type.saturates ? infinity - 1 : infinity;
  return sign | code;
}

// storage_value(storage_bits(x)) of a floating type, but for the sign of zero: x at most type.largest in
// magnitude, precision at most 50. Added to and taken away again, a number whose last digit is the type's
// rounds x to it.
ASSAY_ANYWHERE double rounded_in_range(const StorageRule& type, double x) {
  const int own = static_cast<int>(__builtin_bit_cast(std::uint64_t, x) >> 52 & 0x7ff);
  const int least = 1 - type.bias + 1023; // of the normal numbers
  const int exponent = (own < least ? least : own) - type.precision + 1 + 52;
  const double rounder =
      __builtin_bit_cast(double, (static_cast<std::uint64_t>(exponent) << 52) + (std::uint64_t{1} << 51));
  return (x + rounder) - rounder;
}

ASSAY_ANYWHERE double storage_value(const StorageRule& type, std::uint64_t bits) {
  const int width = 8 * type.bytes;
  if (!type.floating) {
    if (type.bytes == 8) return static_cast<double>(static_cast<std::int64_t>(bits));
    const bool negative = type.smallest < 0 && (bits >> (width - 1) & 1) != 0;
    return static_cast<double>(static_cast<std::int64_t>(bits)) -
           (negative ? static_cast<double>(std::uint64_t{1} << width) : 0.0);
  }
  if (type.precision == 53) return __builtin_bit_cast(double, bits);
  const int fraction_bits = type.precision - 1;
  const bool negative = (bits >> (width - 1) & 1) != 0;
  const std::uint64_t magnitude = bits & ((std::uint64_t{1} << (width - 1)) - 1);
  const std::uint64_t above = (std::uint64_t{1} << (width - 1)) - 1;
  double value = 0;
  if (type.saturates ? magnitude == above : magnitude >> fraction_bits == above >> fraction_bits) {
    const bool infinite = !type.saturates && magnitude << (64 - fraction_bits) == 0;
    value = __builtin_bit_cast(double, infinite ? 0x7ff0000000000000 : 0x7ff8000000000000);
  } else if (magnitude >> fraction_bits == 0) {
    value = static_cast<double>(magnitude) * type.min_subnormal;
  } else {
    value = __builtin_bit_cast(double, (magnitude << (52 - fraction_bits)) +
                                           (static_cast<std::uint64_t>(1023 - type.bias) << 52));
  }
  return negative ? -value : value;
}

} // namespace assay
