// The approximate functions, each evaluated in double and rounded once to float. Loops over 32 lanes without
// branches, so that the compiler vectorises them; only + - * / sqrt fma and integer operations, so that every
// machine gives the same bits.
#include "harness/device/cpu/runtime/math.h"
#include "harness/device/cpu/runtime/trigonometric_reduction.h"

#include <bit>
#include <cmath>
#include <limits>

namespace assay::cpu {
namespace {

constexpr float nan_f32 = std::bit_cast<float>(0x7fffffffu); // what the hardware gives
constexpr double shifter = 0x1.8p52;                         // x + shifter rounds x to an integer

inline double scaled(double value, std::uint64_t shifted_exponent) { // shifted_exponent: bits of n + shifter
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) + (shifted_exponent << 52));
}

// 2^x for |x| <= 1000, relative error below 2^-50: Taylor's polynomial of degree 12 on [-1/2, 1/2].
inline double exp2_core(double x) {
  const double shifted = x + shifter;
  const double f = (x - (shifted - shifter)) * 0x1.62e42fefa39efp-1; // ln 2
  double p = 1.0 / 479001600;
  p = std::fma(p, f, 1.0 / 39916800);
  p = std::fma(p, f, 1.0 / 3628800);
  p = std::fma(p, f, 1.0 / 362880);
  p = std::fma(p, f, 1.0 / 40320);
  p = std::fma(p, f, 1.0 / 5040);
  p = std::fma(p, f, 1.0 / 720);
  p = std::fma(p, f, 1.0 / 120);
  p = std::fma(p, f, 1.0 / 24);
  p = std::fma(p, f, 1.0 / 6);
  p = std::fma(p, f, 0.5);
  p = std::fma(p, f, 1.0);
  p = std::fma(p, f, 1.0);
  return scaled(p, std::bit_cast<std::uint64_t>(shifted));
}

inline double clamped(double x, double low, double high) { // NaN becomes low
  x = x > low ? x : low;
  return x < high ? x : high;
}

// log2(x) for positive normal doubles: x = 2^n m with m in [sqrt(1/2), sqrt(2)), log m by the odd series in
// (m-1)/(m+1).
inline double log2_core(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t root_half = 0x3fe6a09e667f3bcdu;
  const std::uint64_t moved = bits - root_half;
  const std::uint64_t n = moved & 0xfff0000000000000u; // exponent of x relative to root_half, still in place
  const double m = std::bit_cast<double>(bits - n);
  // the exponent, biased so that it is positive, as a double
  const std::uint64_t biased = (n + 0x4000000000000000u) >> 52;
  const double exponent = std::bit_cast<double>(biased | 0x4330000000000000u) - (0x1p52 + 1024.0);
  const double s = (m - 1.0) / (m + 1.0);
  const double q = s * s;
  double p = 1.0 / 17;
  p = std::fma(p, q, 1.0 / 15);
  p = std::fma(p, q, 1.0 / 13);
  p = std::fma(p, q, 1.0 / 11);
  p = std::fma(p, q, 1.0 / 9);
  p = std::fma(p, q, 1.0 / 7);
  p = std::fma(p, q, 1.0 / 5);
  p = std::fma(p, q, 1.0 / 3);
  p = std::fma(p, q, 1.0);
  return std::fma(s * p, 0x1.71547652b82fep+1, exponent); // 2 / ln 2
}

inline double sin_core(double r) { // |r| <= pi/4
  const double q = r * r;
  double p = -1.0 / 1307674368000.0;
  p = std::fma(p, q, 1.0 / 6227020800.0);
  p = std::fma(p, q, -1.0 / 39916800);
  p = std::fma(p, q, 1.0 / 362880);
  p = std::fma(p, q, -1.0 / 5040);
  p = std::fma(p, q, 1.0 / 120);
  p = std::fma(p, q, -1.0 / 6);
  return std::fma(p * q, r, r);
}
inline double cos_core(double r) {
  const double q = r * r;
  double p = -1.0 / 87178291200.0;
  p = std::fma(p, q, 1.0 / 479001600);
  p = std::fma(p, q, -1.0 / 3628800);
  p = std::fma(p, q, 1.0 / 40320);
  p = std::fma(p, q, -1.0 / 720);
  p = std::fma(p, q, 1.0 / 24);
  p = std::fma(p, q, -0.5);
  return std::fma(p, q, 1.0);
}

// Quadrant (mod 4) and remainder of every lane.
struct Reduced {
  double remainder[warp_lanes];
  std::uint64_t quadrant[warp_lanes];
};

void reduce(const float* x, Reduced& reduced) {
  bool large = false;
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const double v = static_cast<double>(x[i]);
    const double shifted = v * 0x1.45f306dc9c883p-1 + shifter; // 2/pi
    const double n = shifted - shifter;
    // pi/2 in two parts, the first of 33 bits, so that n times it is exact up to 2^20
    double r = std::fma(-n, 0x1.921fb544p+0, v);
    r = std::fma(-n, 0x1.0b4611a626331p-34, r);
    reduced.remainder[i] = r;
    reduced.quadrant[i] = std::bit_cast<std::uint64_t>(shifted) & 3;
    large |= !(std::fabs(v) < 0x1p20);
  }
  if (!large) return;
  for (unsigned i = 0; i < warp_lanes; ++i)
    if (std::fabs(x[i]) >= 0x1p20f && std::fabs(x[i]) < std::numeric_limits<float>::infinity())
      reduced.quadrant[i] = reduce_large(x[i], reduced.remainder[i]);
}

void sin_or_cos(const float* x, float* y, std::uint64_t quadrant_shift) {
  Reduced reduced;
  reduce(x, reduced);
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const double r = reduced.remainder[i];
    const std::uint64_t quadrant = reduced.quadrant[i] + quadrant_shift;
    const double s = sin_core(r), c = cos_core(r);
    const double value = quadrant & 1 ? c : s;
    const double result = quadrant & 2 ? -value : value;
    y[i] = std::fabs(x[i]) < std::numeric_limits<float>::infinity() ? static_cast<float>(result) : nan_f32;
  }
}

} // namespace

void assay_ex2_f32(const float* x, float* y) {
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const double v = exp2_core(clamped(static_cast<double>(x[i]), -200.0, 200.0));
    y[i] = x[i] == x[i] ? static_cast<float>(v) : nan_f32;
  }
}

void assay_lg2_f32(const float* x, float* y) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const float a = x[i];
    const bool ordinary = a > 0.0f && a < infinity;
    const double v = log2_core(ordinary ? static_cast<double>(a) : 1.0);
    const float special = a == 0.0f ? -infinity : a > 0.0f ? infinity : nan_f32;
    y[i] = ordinary ? static_cast<float>(v) : special;
  }
}

void assay_sin_f32(const float* x, float* y) {
  sin_or_cos(x, y, 0);
  for (unsigned i = 0; i < warp_lanes; ++i) y[i] = x[i] == 0.0f ? x[i] : y[i]; // -0 stays
}

void assay_cos_f32(const float* x, float* y) { sin_or_cos(x, y, 1); }

void assay_tanh_f32(const float* x, float* y) {
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const double v = static_cast<double>(x[i]);
    const double a = clamped(std::fabs(v), 0.0, 40.0);
    const double t = exp2_core(a * 0x1.71547652b82fep+1); // e^(2a)
    const double large = 1.0 - 2.0 / (t + 1.0);
    const double q = a * a;
    const double small =
        a * std::fma(q, std::fma(q, 2.0 / 15, -1.0 / 3), 1.0); // next term below 2^-50 relative
    const double magnitude = a < 0x1p-9 ? small : large;
    y[i] = x[i] == x[i] ? static_cast<float>(std::copysign(magnitude, v)) : nan_f32;
  }
}

void assay_rcp_f32(const float* x, float* y) {
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const float v = 1.0f / x[i];
    y[i] = x[i] == x[i] ? v : nan_f32;
  }
}

void assay_rsqrt_f32(const float* x, float* y) {
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const double v = 1.0 / std::sqrt(static_cast<double>(x[i]));
    y[i] = x[i] >= 0.0f ? static_cast<float>(v) : nan_f32;
  }
}

// The upper 32 bits of the operand give the upper 32 bits of the result (PTX ISA, rcp.approx.ftz.f64);
// subnormal operands and results are zeros.
namespace {
constexpr std::uint64_t upper = 0xffffffff00000000u, magnitude = 0x7fffffffffffffffu, sign = ~magnitude;

inline double upper_operand(double x) {
  const std::uint64_t operand = std::bit_cast<std::uint64_t>(x) & upper;
  return std::bit_cast<double>((operand & magnitude) < 0x0010000000000000u ? operand & sign : operand);
}
inline double upper_result(double exact) {
  std::uint64_t result = (std::bit_cast<std::uint64_t>(exact) + 0x80000000u) & upper;
  result = (result & magnitude) < 0x0010000000000000u ? result & sign : result;
  return std::bit_cast<double>(exact == exact ? result : std::uint64_t{0x7fffffff00000000u});
}
} // namespace

void assay_rcp_ftz_f64(const double* x, double* y) {
  for (unsigned i = 0; i < warp_lanes; ++i) y[i] = upper_result(1.0 / upper_operand(x[i]));
}

void assay_rsqrt_ftz_f64(const double* x, double* y) {
  for (unsigned i = 0; i < warp_lanes; ++i) y[i] = upper_result(1.0 / std::sqrt(upper_operand(x[i])));
}

void assay_rsqrt_f64(const double* x, double* y) {
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const double v = 1.0 / std::sqrt(x[i]);
    y[i] = x[i] >= 0.0 ? v : std::bit_cast<double>(std::uint64_t{0x7fffffffffffffffu});
  }
}

} // namespace assay::cpu
