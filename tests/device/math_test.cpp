// Every function of math.h against MPFR: random bit patterns, special values, edges. The bound asserted is
// the one that math.h states; the largest error seen is printed.
#include "harness/device/cpu/runtime/math.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpfr.h>

#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace assay::cpu {
namespace {

using Lanes = std::array<float, warp_lanes>;
using Halves = std::array<std::uint16_t, warp_lanes>;
using Unary = void (*)(const float*, float*);
using Exact = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);

class Mpfr {
 public:
  explicit Mpfr(mpfr_prec_t precision = 300) { mpfr_init2(value, precision); }
  ~Mpfr() { mpfr_clear(value); }
  Mpfr(const Mpfr&) = delete;
  Mpfr& operator=(const Mpfr&) = delete;
  mpfr_t value;
};

// Distance of y from the exact value in units of the last place of a float at the exact value (2^-149 at
// least).
double error_in_ulp(float y, const mpfr_t exact) {
  Mpfr difference;
  mpfr_sub_d(difference.value, exact, static_cast<double>(y), MPFR_RNDN);
  const long exponent = mpfr_zero_p(exact) ? -126 : std::max<long>(mpfr_get_exp(exact) - 1, -126);
  return std::fabs(std::ldexp(mpfr_get_d(difference.value, MPFR_RNDA), static_cast<int>(23 - exponent)));
}

std::vector<float> arguments(std::uint64_t seed, int count, float low, float high) {
  std::mt19937_64 random(seed);
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const float any = std::bit_cast<float>(bits);
    if (i % 2 && std::isfinite(any) && any >= low && any <= high)
      values.push_back(any);
    else
      values.push_back(std::clamp(
          static_cast<float>(low + (high - low) * (static_cast<double>(bits) / 0x1p32)), low, high));
  }
  while (values.size() % warp_lanes) values.push_back(low);
  return values;
}

double largest_error(Unary function, Exact exact, const std::vector<float>& x) {
  double largest = 0;
  Mpfr argument, result;
  for (std::size_t i = 0; i < x.size(); i += warp_lanes) {
    Lanes y;
    function(&x[i], y.data());
    for (std::size_t lane = 0; lane < warp_lanes; ++lane) {
      mpfr_set_d(argument.value, static_cast<double>(x[i + lane]), MPFR_RNDN);
      exact(result.value, argument.value, MPFR_RNDN);
      const double error = error_in_ulp(y[lane], result.value);
      EXPECT_FALSE(std::isnan(y[lane])) << x[i + lane];
      if (error > largest) largest = error;
    }
  }
  return largest;
}

float one(Unary function, float x) {
  Lanes in, out;
  in.fill(x);
  function(in.data(), out.data());
  return out[17];
}

constexpr float inf = std::numeric_limits<float>::infinity();
std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
const float some_nan = std::bit_cast<float>(0xffc12345u);

void expect_bound(const char* name, double measured, double bound) {
  std::printf("%-8s largest error %.4f ulp (bound %.2f)\n", name, measured, bound);
  EXPECT_LE(measured, bound) << name;
}

TEST(Approximate, Ex2) {
  expect_bound("ex2", largest_error(assay_ex2_f32, mpfr_exp2, arguments(1, 40000, -149.5f, 127.999f)), 0.501);
  EXPECT_EQ(one(assay_ex2_f32, -inf), 0.0f);
  EXPECT_EQ(one(assay_ex2_f32, inf), inf);
  EXPECT_EQ(one(assay_ex2_f32, 128.0f), inf);
  EXPECT_EQ(one(assay_ex2_f32, 3e38f), inf);
  EXPECT_EQ(bits(one(assay_ex2_f32, -3e38f)), 0u);
  EXPECT_EQ(one(assay_ex2_f32, -149.0f), 0x1p-149f);
  EXPECT_EQ(one(assay_ex2_f32, -0.0f), 1.0f);
  EXPECT_EQ(one(assay_ex2_f32, 1e-40f), 1.0f);
  EXPECT_EQ(bits(one(assay_ex2_f32, some_nan)), 0x7fffffffu);
  for (int n = -149; n < 128; ++n) EXPECT_EQ(one(assay_ex2_f32, static_cast<float>(n)), std::ldexp(1.0f, n));
}

TEST(Approximate, Lg2) {
  expect_bound("lg2", largest_error(assay_lg2_f32, mpfr_log2, arguments(2, 40000, 0x1p-149f, 3e38f)), 0.501);
  expect_bound("lg2 ~1", largest_error(assay_lg2_f32, mpfr_log2, arguments(3, 20000, 0.5f, 2.0f)), 0.501);
  EXPECT_EQ(one(assay_lg2_f32, 0.0f), -inf);
  EXPECT_EQ(one(assay_lg2_f32, -0.0f), -inf);
  EXPECT_EQ(one(assay_lg2_f32, inf), inf);
  EXPECT_EQ(bits(one(assay_lg2_f32, -inf)), 0x7fffffffu);
  EXPECT_EQ(bits(one(assay_lg2_f32, -1.0f)), 0x7fffffffu);
  EXPECT_EQ(bits(one(assay_lg2_f32, -1e-42f)), 0x7fffffffu);
  EXPECT_EQ(bits(one(assay_lg2_f32, some_nan)), 0x7fffffffu);
  EXPECT_EQ(bits(one(assay_lg2_f32, 1.0f)), 0u);
  for (int n = -149; n < 128; ++n) EXPECT_EQ(one(assay_lg2_f32, std::ldexp(1.0f, n)), static_cast<float>(n));
}

TEST(Approximate, SinCos) {
  expect_bound("sin", largest_error(assay_sin_f32, mpfr_sin, arguments(4, 30000, -100.0f, 100.0f)), 0.51);
  expect_bound("cos", largest_error(assay_cos_f32, mpfr_cos, arguments(5, 30000, -100.0f, 100.0f)), 0.51);
  expect_bound("sin big", largest_error(assay_sin_f32, mpfr_sin, arguments(6, 20000, -3.4e38f, 3.4e38f)),
               0.51);
  expect_bound("cos big", largest_error(assay_cos_f32, mpfr_cos, arguments(7, 20000, -3.4e38f, 3.4e38f)),
               0.51);
  EXPECT_EQ(bits(one(assay_sin_f32, -0.0f)), 0x80000000u);
  EXPECT_EQ(one(assay_cos_f32, -0.0f), 1.0f);
  for (const float x : {inf, -inf, some_nan}) {
    EXPECT_EQ(bits(one(assay_sin_f32, x)), 0x7fffffffu);
    EXPECT_EQ(bits(one(assay_cos_f32, x)), 0x7fffffffu);
  }
  EXPECT_EQ(one(assay_sin_f32, 1e-42f), 1e-42f);
}

TEST(Approximate, Tanh) {
  expect_bound("tanh", largest_error(assay_tanh_f32, mpfr_tanh, arguments(8, 40000, -20.0f, 20.0f)), 0.501);
  expect_bound("tanh ~0", largest_error(assay_tanh_f32, mpfr_tanh, arguments(9, 20000, -0.01f, 0.01f)),
               0.501);
  EXPECT_EQ(one(assay_tanh_f32, inf), 1.0f);
  EXPECT_EQ(one(assay_tanh_f32, -inf), -1.0f);
  EXPECT_EQ(bits(one(assay_tanh_f32, -0.0f)), 0x80000000u);
  EXPECT_EQ(bits(one(assay_tanh_f32, some_nan)), 0x7fffffffu);
  EXPECT_EQ(one(assay_tanh_f32, 1e-42f), 1e-42f);
}

int mpfr_reciprocal(mpfr_t r, const mpfr_t x, mpfr_rnd_t mode) { return mpfr_ui_div(r, 1, x, mode); }

TEST(Approximate, Reciprocals) {
  expect_bound("rcp", largest_error(assay_rcp_f32, mpfr_reciprocal, arguments(10, 30000, 1e-38f, 3e38f)),
               0.5);
  expect_bound("rsqrt", largest_error(assay_rsqrt_f32, mpfr_rec_sqrt, arguments(11, 30000, 0x1p-149f, 3e38f)),
               0.501);
  EXPECT_EQ(one(assay_rcp_f32, -0.0f), -inf);
  EXPECT_EQ(bits(one(assay_rcp_f32, -inf)), 0x80000000u);
  EXPECT_EQ(bits(one(assay_rcp_f32, some_nan)), 0x7fffffffu);
  EXPECT_EQ(one(assay_rsqrt_f32, 0.0f), inf);
  EXPECT_EQ(one(assay_rsqrt_f32, -0.0f), -inf);
  EXPECT_EQ(one(assay_rsqrt_f32, inf), 0.0f);
  EXPECT_EQ(bits(one(assay_rsqrt_f32, -1.0f)), 0x7fffffffu);
  EXPECT_EQ(bits(one(assay_rsqrt_f32, some_nan)), 0x7fffffffu);
  double in[warp_lanes], out[warp_lanes];
  for (unsigned i = 0; i < warp_lanes; ++i)
    in[i] = std::ldexp(1.0 + i / 37.0, static_cast<int>(i * 60) - 960);
  assay_rcp_ftz_f64(in, out);
  for (unsigned i = 0; i < warp_lanes; ++i) {
    EXPECT_NEAR(out[i] * in[i], 1.0, 0x1p-19);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(out[i]) & 0xffffffff, 0u);
  }
  assay_rsqrt_f64(in, out);
  for (unsigned i = 0; i < warp_lanes; ++i) EXPECT_NEAR(out[i] * out[i] * in[i], 1.0, 0x1p-51);
}

constexpr mpfr_rnd_t mpfr_modes[4] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU};

// The float nearest to what `compute` gives exactly, in the given direction, subnormals included.
template <class F> float exactly_f32(F&& compute, mpfr_rnd_t mode) {
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
  Mpfr result(24);
  const int ternary = compute(result.value, mode);
  mpfr_subnormalize(result.value, mpfr_check_range(result.value, ternary, mode), mode);
  const float value = mpfr_get_flt(result.value, mode);
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  return value;
}

struct Operand {
  explicit Operand(float x) : number(24) { mpfr_set_flt(number.value, x, MPFR_RNDN); }
  Mpfr number;
};

TEST(Rounded, EveryModeAgreesWithMpfr) {
  std::mt19937_64 random(20);
  for (int round = 0; round < 200; ++round) {
    Lanes a, b, c;
    for (unsigned i = 0; i < warp_lanes; ++i) {
      const auto draw = [&] {
        std::uint32_t pattern = static_cast<std::uint32_t>(random());
        if (i % 3 == 0) pattern = (pattern & 0x83ffffff) | 0x3c000000; // moderate exponents
        if (i % 7 == 0) pattern &= 0x80ffffff;                         // near or below the smallest normal
        const float x = std::bit_cast<float>(pattern);
        return std::isfinite(x) ? x : 1.25f;
      };
      a[i] = draw();
      b[i] = draw();
      c[i] = draw();
    }
    for (unsigned mode = 0; mode < 4; ++mode) {
      const mpfr_rnd_t rounding = mpfr_modes[mode];
      Lanes sum, product, fused, quotient, reciprocal, root;
      Lanes magnitude;
      for (unsigned i = 0; i < warp_lanes; ++i) magnitude[i] = std::fabs(a[i]);
      assay_add_f32(a.data(), b.data(), sum.data(), mode);
      assay_mul_f32(a.data(), b.data(), product.data(), mode);
      assay_fma_f32(a.data(), b.data(), c.data(), fused.data(), mode);
      assay_div_f32(a.data(), b.data(), quotient.data(), mode);
      assay_rcp_rounded_f32(b.data(), reciprocal.data(), mode);
      assay_sqrt_f32(magnitude.data(), root.data(), mode);
      for (unsigned i = 0; i < warp_lanes; ++i) {
        const Operand x(a[i]), y(b[i]), z(c[i]), m(magnitude[i]);
        const auto expect = [&](float got, auto compute, const char* what) {
          const float want = exactly_f32(compute, rounding);
          ASSERT_EQ(bits(got), bits(want))
              << what << " mode " << mode << " of " << a[i] << ", " << b[i] << ", " << c[i];
        };
        expect(
            sum[i], [&](mpfr_t r, mpfr_rnd_t d) { return mpfr_add(r, x.number.value, y.number.value, d); },
            "add");
        expect(
            product[i],
            [&](mpfr_t r, mpfr_rnd_t d) { return mpfr_mul(r, x.number.value, y.number.value, d); }, "mul");
        expect(
            fused[i],
            [&](mpfr_t r, mpfr_rnd_t d) {
              return mpfr_fma(r, x.number.value, y.number.value, z.number.value, d);
            },
            "fma");
        if (b[i] != 0.0f) {
          expect(
              quotient[i],
              [&](mpfr_t r, mpfr_rnd_t d) { return mpfr_div(r, x.number.value, y.number.value, d); }, "div");
          expect(
              reciprocal[i], [&](mpfr_t r, mpfr_rnd_t d) { return mpfr_ui_div(r, 1, y.number.value, d); },
              "rcp");
        }
        expect(root[i], [&](mpfr_t r, mpfr_rnd_t d) { return mpfr_sqrt(r, m.number.value, d); }, "sqrt");
      }
    }
    ASSERT_EQ(1.0f + 0x1p-24f, 1.0f); // the mode is back to nearest
  }
}

TEST(Rounded, DoublesByHand) {
  double a[warp_lanes], b[warp_lanes], c[warp_lanes], r[warp_lanes];
  std::fill(a, a + warp_lanes, 1.0);
  std::fill(b, b + warp_lanes, 0x1p-60);
  std::fill(c, c + warp_lanes, -0x1p-70);
  const auto got = [&](auto f, auto... args) {
    f(args...);
    return r[31];
  };
  EXPECT_EQ(got(assay_add_f64, a, b, r, 0u), 1.0);
  EXPECT_EQ(got(assay_add_f64, a, b, r, 3u), 1.0 + 0x1p-52);
  EXPECT_EQ(got(assay_add_f64, a, c, r, 1u), 1.0 - 0x1p-53);
  EXPECT_EQ(got(assay_add_f64, a, c, r, 2u), 1.0 - 0x1p-53);
  EXPECT_EQ(got(assay_fma_f64, a, a, b, r, 3u), 1.0 + 0x1p-52);
  std::fill(b, b + warp_lanes, 3.0);
  EXPECT_EQ(got(assay_div_f64, a, b, r, 2u), 0x1.5555555555555p-2);
  EXPECT_EQ(got(assay_div_f64, a, b, r, 3u), 0x1.5555555555556p-2);
  EXPECT_EQ(got(assay_sqrt_f64, b, r, 2u), 0x1.bb67ae8584caap+0); // sqrt 3 = 1.bb67ae8584caa73b...
  EXPECT_EQ(got(assay_sqrt_f64, b, r, 3u), 0x1.bb67ae8584cabp+0);
  EXPECT_EQ(got(assay_mul_f64, b, b, r, 1u), 9.0);
}

// Rounds an exact value to a half type by MPFR.
std::uint16_t half_of(const mpfr_t exact, int precision, int min_exponent, int max_exponent,
                      std::uint16_t infinity) {
  // leading-bit exponents; MPFR's exponent is one more
  mpfr_set_emin(min_exponent + 2 - precision);
  mpfr_set_emax(max_exponent + 1);
  Mpfr result(precision);
  const int ternary = mpfr_set(result.value, exact, MPFR_RNDN);
  mpfr_subnormalize(result.value, mpfr_check_range(result.value, ternary, MPFR_RNDN), MPFR_RNDN);
  const double value = mpfr_get_d(result.value, MPFR_RNDN);
  const bool negative = mpfr_signbit(result.value) != 0;
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  const auto sign = static_cast<std::uint16_t>(negative ? 0x8000 : 0);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), min_exponent);
  const auto significand = static_cast<int>(std::ldexp(magnitude, precision - 1 - exponent));
  const int field = exponent - min_exponent; // plus the hidden bit where there is one
  return static_cast<std::uint16_t>(sign | ((field << (precision - 1)) + significand));
}

double widen(std::uint16_t half, int precision, int min_exponent) {
  const int field = (half & 0x7fff) >> (precision - 1);
  const int fraction = half & ((1 << (precision - 1)) - 1);
  const double magnitude =
      field ? std::ldexp(fraction + (1 << (precision - 1)), field - 1 + min_exponent - precision + 1)
            : std::ldexp(fraction, min_exponent - precision + 1);
  return half & 0x8000 ? -magnitude : magnitude;
}

void check_half_fma(void (*fma)(const std::uint16_t*, const std::uint16_t*, const std::uint16_t*,
                                std::uint16_t*),
                    int precision, int min_exponent, int max_exponent, std::uint16_t infinity) {
  std::mt19937_64 random(30);
  Mpfr x(600), y(600), z(600), exact(1000);
  for (int round = 0; round < 20000; ++round) {
    Halves a, b, c, r;
    for (unsigned i = 0; i < warp_lanes; ++i) {
      const auto draw = [&] {
        auto half = static_cast<std::uint16_t>(random());
        if (i % 4 == 0) half &= 0x83ff;
        return (half & infinity) == infinity ? std::uint16_t{0x3c00} : half;
      };
      a[i] = draw();
      b[i] =
          i % 5 == 0
              ? static_cast<std::uint16_t>(((precision == 11 ? 15 : 127) << (precision - 1)) | (random() & 3))
              : draw();
      c[i] = draw();
    }
    fma(a.data(), b.data(), c.data(), r.data());
    if (round % 8) continue; // the rest only exercises it under the sanitizers
    for (unsigned i = 0; i < warp_lanes; ++i) {
      mpfr_set_d(x.value, widen(a[i], precision, min_exponent), MPFR_RNDN);
      mpfr_set_d(y.value, widen(b[i], precision, min_exponent), MPFR_RNDN);
      mpfr_set_d(z.value, widen(c[i], precision, min_exponent), MPFR_RNDN);
      mpfr_fma(exact.value, x.value, y.value, z.value, MPFR_RNDN);
      ASSERT_EQ(r[i], half_of(exact.value, precision, min_exponent, max_exponent, infinity))
          << std::hex << a[i] << " * " << b[i] << " + " << c[i];
    }
  }
}

TEST(Half, FmaF16AgreesWithMpfr) { check_half_fma(assay_fma_f16, 11, -14, 15, 0x7c00); }
TEST(Half, FmaBf16AgreesWithMpfr) { check_half_fma(assay_fma_bf16, 8, -126, 127, 0x7f80); }

TEST(Half, FmaSpecials) {
  const auto f16 = [](std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    Halves x, y, z, r;
    x.fill(a), y.fill(b), z.fill(c);
    assay_fma_f16(x.data(), y.data(), z.data(), r.data());
    return r[3];
  };
  EXPECT_EQ(f16(0x7c00, 0x3c00, 0xfc00), 0x7fff); // inf - inf
  EXPECT_EQ(f16(0x7c00, 0x3c00, 0x3c00), 0x7c00);
  EXPECT_EQ(f16(0x7e01, 0x3c00, 0x3c00), 0x7fff);
  EXPECT_EQ(f16(0x7bff, 0x7bff, 0x0000), 0x7c00); // overflow
  EXPECT_EQ(f16(0x8000, 0x3c00, 0x8000), 0x8000); // -0 + -0
  EXPECT_EQ(f16(0x3c00, 0x3c00, 0xbc00), 0x0000);
  const auto bf16 = [](std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    Halves x, y, z, r;
    x.fill(a), y.fill(b), z.fill(c);
    assay_fma_bf16(x.data(), y.data(), z.data(), r.data());
    return r[3];
  };
  // 1.0078125 * 1.5 = 1.51171875, half way between two bf16; a speck of c decides (lost in a double sum
  // without sticky)
  EXPECT_EQ(bf16(0x3f81, 0x3fc0, 0x0000), 0x3fc2);
  EXPECT_EQ(bf16(0x3f81, 0x3fc0, 0x0080), 0x3fc2);
  EXPECT_EQ(bf16(0x3f81, 0x3fc0, 0x8080), 0x3fc1);
  EXPECT_EQ(bf16(0x7f80, 0x0000, 0x3f80), 0x7fff); // inf * 0
}

} // namespace
} // namespace assay::cpu
