// Elements of the storage types: their bits as numbers, and numbers rounded to them (numerics/formats.h has
// the rules; here the type is known when the program is compiled).
#pragma once

#include "harness/numerics/formats.h"
#include "harness/screen/device/half_bits.h"

namespace assay::screen {

template <DType type> inline constexpr bool is_floating = type <= DType::f8e5m2;

template <DType type> constexpr int bytes_of() {
  if (type == DType::f64 || type == DType::i64) return 8;
  if (type == DType::f32 || type == DType::i32) return 4;
  return type == DType::f16 || type == DType::bf16 ? 2 : 1;
}

inline double from_f8(std::uint32_t bits, int mantissa_bits, int bias, bool has_infinity) {
  const std::uint32_t magnitude = bits & 0x7f;
  const std::uint32_t exponent = magnitude >> mantissa_bits,
                      fraction = magnitude & ((1u << mantissa_bits) - 1);
  const double sign = bits & 0x80 ? -1 : 1;
  const bool top = exponent == (0x7fu >> mantissa_bits);
  if (has_infinity && top)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : __longlong_as_double(-1);
  if (!has_infinity && magnitude == 0x7f) return __longlong_as_double(-1);
  const int least = 1 - bias - mantissa_bits;
  if (exponent == 0) return sign * fraction * Format::power_of_two(least);
  return sign * (fraction + (1u << mantissa_bits)) *
         Format::power_of_two(least + static_cast<int>(exponent) - 1);
}

// The bits of x rounded to f16 or bf16.
template <DType type> std::uint16_t half_bits(float x) {
  if constexpr (type == DType::f16)
    return f16_bits(x);
  else
    return bf16_bits(x);
}
template <DType type> std::uint16_t half_bits(double x) { return half_bits<type>(rounded_to_odd(x)); }
template <DType type> float from_half_bits(std::uint16_t bits) {
  float x;
  if constexpr (type == DType::f16)
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  else
    x = __uint_as_float(std::uint32_t{bits} << 16);
  return x;
}

// The number at `place`, which nobody writes while the program runs; what follows it is asked for as well.
inline std::uint16_t read_ahead(const std::uint16_t* place) {
  std::uint16_t x;
  asm("ld.global.nc.L2::256B.u16 %0, [%1];" : "=h"(x) : "l"(place));
  return x;
}
inline float read_ahead(const float* place) {
  float x;
  asm("ld.global.nc.L2::256B.f32 %0, [%1];" : "=f"(x) : "l"(place));
  return x;
}
template <class T> T read_ahead(const T* place) { return __ldg(place); }

// The number at `place`; read_only: nobody writes it while the program runs.
template <class T, bool read_only> T loaded(const unsigned char* place) {
  const T* typed = reinterpret_cast<const T*>(place);
  if constexpr (read_only)
    return read_ahead(typed);
  else
    return *typed;
}

// The value of the element at `place`.
template <DType type, bool read_only = true> double value_at(const unsigned char* place) {
  if constexpr (type == DType::f64) return loaded<double, read_only>(place);
  if constexpr (type == DType::f32) return loaded<float, read_only>(place);
  if constexpr (type == DType::bf16 || type == DType::f16)
    return from_half_bits<type>(loaded<std::uint16_t, read_only>(place));
  if constexpr (type == DType::f8e4m3) return from_f8(*place, 3, 7, false);
  if constexpr (type == DType::f8e5m2) return from_f8(*place, 2, 15, true);
  if constexpr (type == DType::i64) return static_cast<double>(loaded<std::int64_t, read_only>(place));
  if constexpr (type == DType::i32) return loaded<std::int32_t, read_only>(place);
  if constexpr (type == DType::i8) return *reinterpret_cast<const std::int8_t*>(place);
  if constexpr (type == DType::u8) return *place;
}

// x rounded to the type, nearest even, as a double.
template <DType type> double rounded_to(double x) {
  if constexpr (type == DType::f64) {
    return x;
  } else if constexpr (type == DType::f32) {
    return static_cast<float>(x);
  } else if constexpr (bytes_of<type>() == 2) {
    return from_half_bits<type>(half_bits<type>(x));
  } else {
    constexpr Format format = format_constant<type>();
    return round_to(format, x);
  }
}
template <DType type> double rounded_to(DoubleDouble x) { return x.high + x.low; } // f64 cases alone

// The rank of a value of the type: neighbours differ by 1, +0 and -0 are both 0. Not for NaN.
template <DType type> std::int64_t rank_of(double x) {
  if constexpr (type == DType::f64) {
    const std::int64_t bits = __double_as_longlong(x);
    return bits < 0 ? -(bits & 0x7fffffffffffffff) : bits;
  } else if constexpr (type == DType::f8e4m3 || type == DType::f8e5m2) {
    // Multiples of the spacing: from the smallest subnormal up every binade has as many values.
    constexpr Format format = format_constant<type>();
    const double magnitude = std::fabs(x);
    const std::int64_t bits =
        __double_as_longlong(magnitude < format.min_normal ? magnitude + format.min_normal : magnitude);
    std::int64_t rank = (bits >> (53 - format.precision)) -
                        (__double_as_longlong(format.min_normal) >> (53 - format.precision));
    rank += magnitude < format.min_normal ? 0 : std::int64_t{1} << (format.precision - 1);
    return x < 0 ? -rank : rank;
  } else {
    const std::int32_t bits = __float_as_int(static_cast<float>(x));
    std::int32_t magnitude = bits & 0x7fffffff;
    if constexpr (type == DType::bf16) magnitude >>= 16;
    if constexpr (type == DType::f16)
      magnitude =
          magnitude < 0x7f800000 ? __float_as_int(__int_as_float(magnitude) * 0x1p-112f) >> 13 : 0x7c00;
    return bits < 0 ? -magnitude : magnitude;
  }
}

// The spacing of the type at |x|: of subnormals below the smallest normal, of the last binade above it.
template <DType type> double spacing_at(double x) {
  constexpr Format format = format_constant<type>();
  constexpr int least = (format.min_exponent + 1023) << 20, most = (format.max_exponent + 1023) << 20;
  const int exponent = __double2hiint(x) & 0x7ff00000;
  const int binade = exponent < least ? least : exponent > most ? most : exponent;
  const int spacing = binade - ((format.precision - 1) << 20); // subnormal for f64 alone
  if (type == DType::f64 && spacing <= 0) return format.min_subnormal;
  return __hiloint2double(spacing, 0);
}

// x rounded to a multiple of `spacing`, nearest even; |x| below 2^51 of it.
inline double rounded_to_multiple(double x, double spacing) {
  const double shift =
      __hiloint2double(__double2hiint(spacing) + (52 << 20 | 1 << 19), 0); // 1.5 * 2^52 of it
  return x + shift - shift;
}

} // namespace assay::screen
