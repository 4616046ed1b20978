#include "harness/numerics/formats.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <random>
#include <vector>

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const std::vector<DType> narrow_types{DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2};

// Correct rounding by MPFR of high + low to the format, subnormals and overflow included.
double rounded_by_mpfr(const Format& format, double high, double low) {
  mpfr_t exact, rounded;
  mpfr_init2(exact, 2200); // holds any sum of two doubles
  mpfr_init2(rounded, format.precision);
  mpfr_set_d(exact, high, MPFR_RNDN);
  mpfr_add_d(exact, exact, low, MPFR_RNDN);
  const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_set_emin(format.min_exponent - format.precision + 2); // MPFR's significands lie in [1/2, 1)
  mpfr_set_emax(format.max_exponent + 1);
  const int ternary = mpfr_check_range(rounded, mpfr_set(rounded, exact, MPFR_RNDN), MPFR_RNDN);
  mpfr_subnormalize(rounded, ternary, MPFR_RNDN);
  double result = mpfr_get_d(rounded, MPFR_RNDN);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  mpfr_clear(exact);
  mpfr_clear(rounded);
  if (format.overflow == Overflow::saturate && std::fabs(result) > format.largest)
    result = std::copysign(format.largest, result);
  return result;
}

TEST(formats, constants) {
  EXPECT_EQ(format_of(DType::f64).largest, std::numeric_limits<double>::max());
  EXPECT_EQ(format_of(DType::f64).min_normal, std::numeric_limits<double>::min());
  EXPECT_EQ(format_of(DType::f64).min_subnormal, 0x1p-1074);
  EXPECT_EQ(format_of(DType::f32).largest, std::numeric_limits<float>::max());
  EXPECT_EQ(format_of(DType::f32).min_normal, 0x1p-126);
  EXPECT_EQ(format_of(DType::f32).min_subnormal, 0x1p-149);
  EXPECT_EQ(format_of(DType::f16).largest, 65504);
  EXPECT_EQ(format_of(DType::f16).min_normal, 0x1p-14);
  EXPECT_EQ(format_of(DType::f16).min_subnormal, 0x1p-24);
  EXPECT_EQ(format_of(DType::f16).edge_gap(), 16); // 65520 rounds to infinity
  EXPECT_EQ(format_of(DType::bf16).largest, 0x1.fep127);
  EXPECT_EQ(format_of(DType::bf16).min_subnormal, 0x1p-133);
  EXPECT_EQ(format_of(DType::bf16).edge_gap(), 0x1p119);
  EXPECT_EQ(format_of(DType::f8e4m3).largest, 448);
  EXPECT_EQ(format_of(DType::f8e4m3).min_normal, 0x1p-6);
  EXPECT_EQ(format_of(DType::f8e4m3).min_subnormal, 0x1p-9);
  EXPECT_EQ(format_of(DType::f8e5m2).largest, 57344);
  EXPECT_EQ(format_of(DType::f8e5m2).min_normal, 0x1p-14);
  EXPECT_EQ(format_of(DType::f8e5m2).min_subnormal, 0x1p-16);
  EXPECT_EQ(format_of(DType::f8e5m2).edge_gap(), 4096);
}

TEST(formats, bits_by_hand) {
  EXPECT_EQ(from_bits(DType::f16, 0x3c00), 1);
  EXPECT_EQ(from_bits(DType::f16, 0xc000), -2);
  EXPECT_EQ(from_bits(DType::f16, 0x3555), 0x1.554p-2);
  EXPECT_EQ(from_bits(DType::f16, 0x7bff), 65504);
  EXPECT_EQ(from_bits(DType::f16, 0x0001), 0x1p-24);
  EXPECT_EQ(from_bits(DType::f16, 0x03ff), 0x1.ff8p-15);
  EXPECT_EQ(from_bits(DType::f16, 0xfc00), -infinity);
  EXPECT_TRUE(std::isnan(from_bits(DType::f16, 0x7c01)));
  EXPECT_TRUE(std::signbit(from_bits(DType::f16, 0x8000)));
  EXPECT_EQ(from_bits(DType::bf16, 0x4049), 3.140625);
  EXPECT_EQ(from_bits(DType::f8e4m3, 0x38), 1);
  EXPECT_EQ(from_bits(DType::f8e4m3, 0x7e), 448);
  EXPECT_EQ(from_bits(DType::f8e4m3, 0x78), 256); // no infinity there
  EXPECT_TRUE(std::isnan(from_bits(DType::f8e4m3, 0xff)));
  EXPECT_EQ(from_bits(DType::f8e4m3, 0x07), 7 * 0x1p-9);
  EXPECT_EQ(from_bits(DType::f8e5m2, 0x3c), 1);
  EXPECT_EQ(from_bits(DType::f8e5m2, 0x7b), 57344);
  EXPECT_EQ(from_bits(DType::f8e5m2, 0x7c), infinity);
  EXPECT_EQ(from_bits(DType::i8, 0xff), -1);
  EXPECT_EQ(from_bits(DType::u8, 0xff), 255);
  EXPECT_EQ(from_bits(DType::i32, 0x80000000), -0x1p31);
  EXPECT_EQ(from_bits(DType::i64, 0xfffffffffffffffe), -2);
}

// Every pattern of f16 and bf16 against the compiler's own types, of fp8 against the formula of its
// specification.
TEST(formats, every_pattern_decodes) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const double half = std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits));
    const double bfloat = std::bit_cast<float>(bits << 16);
    EXPECT_EQ(std::isnan(from_bits(DType::f16, bits)), std::isnan(half)) << bits;
    EXPECT_EQ(std::isnan(from_bits(DType::bf16, bits)), std::isnan(bfloat)) << bits;
    if (!std::isnan(half)) EXPECT_EQ(from_bits(DType::f16, bits), half) << bits;
    if (!std::isnan(bfloat)) EXPECT_EQ(from_bits(DType::bf16, bits), bfloat) << bits;
  }
  for (int bits = 0; bits < 128; ++bits) {
    const int e4 = bits >> 3, m3 = bits & 7, e5 = bits >> 2, m2 = bits & 3;
    const double e4m3 = e4 ? std::ldexp(8 + m3, e4 - 7 - 3) : std::ldexp(m3, -6 - 3);
    if (bits != 0x7f) EXPECT_EQ(from_bits(DType::f8e4m3, bits), e4m3) << bits;
    if (bits != 0x7f) EXPECT_EQ(from_bits(DType::f8e4m3, bits | 0x80), -e4m3) << bits;
    const double e5m2 = e5 ? std::ldexp(4 + m2, e5 - 15 - 2) : std::ldexp(m2, -14 - 2);
    if (e5 != 31) EXPECT_EQ(from_bits(DType::f8e5m2, bits), e5m2) << bits;
    if (e5 == 31) EXPECT_EQ(std::isnan(from_bits(DType::f8e5m2, bits)), m2 != 0) << bits;
  }
}

TEST(formats, every_pattern_round_trips) {
  for (const DType type : narrow_types) {
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 8 * size_of(type); ++bits) {
      const double value = from_bits(type, bits);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(from_bits(type, to_bits(type, value)))) << name_of(type) << bits;
        continue;
      }
      EXPECT_EQ(to_bits(type, value), bits) << name_of(type);
      EXPECT_TRUE(is_representable(type, value));
    }
  }
}

// Between every two neighbours: the midpoint goes to the even one, and a hair off it to the nearer one.
TEST(formats, every_tie_goes_to_even) {
  for (const DType type : narrow_types) {
    const std::uint64_t top = to_bits(type, format_of(type).largest);
    for (std::uint64_t bits = 0; bits < top; ++bits) {
      const double below = from_bits(type, bits), above = from_bits(type, bits + 1),
                   middle = (below + above) / 2;
      const std::uint64_t even = bits & 1 ? bits + 1 : bits;
      const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(type) - 1);
      ASSERT_EQ(to_bits(type, middle), even) << name_of(type) << bits;
      ASSERT_EQ(to_bits(type, -middle), even | sign) << name_of(type) << bits;
      ASSERT_EQ(to_bits(type, std::nextafter(middle, infinity)), bits + 1) << name_of(type) << bits;
      ASSERT_EQ(to_bits(type, std::nextafter(middle, 0)), bits) << name_of(type) << bits;
      const double hair = std::max(middle * 0x1p-60, 0x1p-1074);
      ASSERT_EQ(to_bits(type, DoubleDouble(middle, hair)), bits + 1) << name_of(type) << bits;
      ASSERT_EQ(to_bits(type, DoubleDouble(middle, -hair)), bits) << name_of(type) << bits;
      ASSERT_EQ(to_bits(type, DoubleDouble(-middle, hair)), bits | sign) << name_of(type) << bits;
    }
  }
}

TEST(formats, overflow) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::f8e5m2}) {
    const Format& format = format_of(type);
    const double edge = format.largest + format.edge_gap();
    EXPECT_EQ(round_value(type, edge), infinity) << name_of(type);
    EXPECT_EQ(round_value(type, -edge), -infinity) << name_of(type);
    EXPECT_EQ(round_value(type, std::nextafter(edge, 0)), format.largest) << name_of(type);
    EXPECT_EQ(round_value(type, DoubleDouble(edge, -1e-6)), format.largest) << name_of(type);
    EXPECT_EQ(round_value(type, infinity), infinity);
  }
  EXPECT_EQ(to_bits(DType::f16, 65520), 0x7c00u);
  EXPECT_EQ(to_bits(DType::f16, -1e300), 0xfc00u);
  EXPECT_EQ(to_bits(DType::f8e4m3, 1e300), 0x7eu);
  EXPECT_EQ(to_bits(DType::f8e4m3, infinity), 0x7eu);
  EXPECT_EQ(to_bits(DType::f8e4m3, -infinity), 0xfeu);
  EXPECT_EQ(to_bits(DType::f8e4m3, 464.0), 0x7eu);
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2})
    EXPECT_TRUE(std::isnan(from_bits(type, to_bits(type, nan)))) << name_of(type);
}

TEST(formats, rounds_once) {
  // To float first these would become ties, and then even.
  EXPECT_EQ(round_value(DType::bf16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(round_value(DType::f16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  // The low word decides a tie of the high one.
  EXPECT_EQ(round_value(DType::bf16, DoubleDouble(1 + 0x1p-8, 0x1p-60)), 1 + 0x1p-7);
  EXPECT_EQ(round_value(DType::bf16, DoubleDouble(1 + 0x1p-8, -0x1p-60)), 1);
  EXPECT_EQ(round_value(DType::bf16, DoubleDouble(1 + 0x1p-7 + 0x1p-8, -0x1p-60)), 1 + 0x1p-7);
  EXPECT_EQ(round_value(DType::bf16, DoubleDouble(-1 - 0x1p-8, 0x1p-60)), -1);
  // Just above a tie, and the low word does not bring it back to it.
  EXPECT_EQ(round_value(DType::bf16, DoubleDouble(1 + 0x1p-8 + 0x1p-52, -0x1p-54)), 1 + 0x1p-7);
  EXPECT_EQ(round_value(DType::f32, DoubleDouble(1 + 0x1p-24, 0x1p-80)), 1 + 0x1p-23);
  EXPECT_EQ(round_value(DType::f64, DoubleDouble(1, 0x1p-60)), 1);
}

TEST(formats, agrees_with_mpfr) {
  std::mt19937_64 random(7);
  for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2}) {
    const Format& format = format_of(type);
    for (int i = 0; i < 20000; ++i) {
      // Exponents over the whole range and beyond both ends; half of them a hair from a tie.
      std::uniform_int_distribution<int> exponents(format.min_exponent - format.precision - 3,
                                                   format.max_exponent + 2);
      std::uint64_t significand = random() >> 11;
      if (i % 2) significand = (significand >> (53 - format.precision) << 1 | 1) << (52 - format.precision);
      double x = std::ldexp(static_cast<double>(significand), exponents(random) - 52);
      if (random() & 1) x = -x;
      if (i % 4 == 3) x = std::nextafter(x, 0);
      const double low = i % 3 ? 0 : std::ldexp(x, -60) * (random() & 1 ? 1 : -1);
      ASSERT_EQ(round_value(type, DoubleDouble(x, low)), rounded_by_mpfr(format, x, low))
          << name_of(type) << " " << x << " " << low;
      if (low == 0)
        ASSERT_EQ(round_value(type, x), rounded_by_mpfr(format, x, 0)) << name_of(type) << " " << x;
      if (low == 0 && type == DType::f32) ASSERT_EQ(round_value(type, x), static_cast<float>(x));
    }
  }
}

TEST(formats, unbounded_exponents) {
  const Format& half = format_of(DType::f16);
  EXPECT_EQ(round_unbounded(half, 65521), 65536); // the spacing is 32 below 2^16
  EXPECT_EQ(round_unbounded(half, 65519), 65504);
  EXPECT_EQ(round_unbounded(half, 1e300), std::ldexp(std::nearbyint(std::ldexp(1e300, -996 + 10)), 996 - 10));
  EXPECT_EQ(round_unbounded(format_of(DType::f64), 0.1), 0.1);
}

TEST(formats, integers) {
  EXPECT_EQ(to_bits(DType::i8, 2.5), 2u);
  EXPECT_EQ(to_bits(DType::i8, 3.5), 4u);
  EXPECT_EQ(to_bits(DType::i8, -2.5), 0xfeu);
  EXPECT_EQ(to_bits(DType::i8, 1000), 0x7fu);
  EXPECT_EQ(to_bits(DType::i8, -1000), 0x80u);
  EXPECT_EQ(to_bits(DType::i8, DoubleDouble(2.5, 1e-20)), 3u);
  EXPECT_EQ(to_bits(DType::u8, -1), 0u);
  EXPECT_EQ(to_bits(DType::u8, 300), 255u);
  EXPECT_EQ(to_bits(DType::i32, 3e9), 0x7fffffffu);
  EXPECT_EQ(to_bits(DType::i32, -3e9), 0x80000000u);
  EXPECT_EQ(to_bits(DType::i64, 1e30), 0x7fffffffffffffffu);
  EXPECT_EQ(to_bits(DType::i64, -1e30), 0x8000000000000000u);
  EXPECT_EQ(to_bits(DType::i32, nan), 0u);
}

TEST(dtype, names) {
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2,
                           DType::i64, DType::i32, DType::i8, DType::u8})
    EXPECT_EQ(parse_dtype(name_of(type)), type);
  EXPECT_EQ(parse_dtype("float"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
  EXPECT_EQ(cuda_name_of(DType::bf16), "__nv_bfloat16");
  EXPECT_EQ(size_of(DType::f8e5m2), 1u);
  EXPECT_TRUE(is_float(DType::f8e5m2));
  EXPECT_FALSE(is_float(DType::i64));
}

} // namespace
} // namespace assay
