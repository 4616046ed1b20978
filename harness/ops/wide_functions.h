// Functions of a double-double argument with proven or documented error bounds,
// for golden evaluations.
//   double_function  libm's double function and a first-order correction for
//   the low word. Bounds: glibc's manual,
//                    "Known Maximum Errors in Math Functions" (x86_64,
//                    aarch64), one ULP added for what follows.
//   wide_function    double-double throughout; erf and erfc in long double.
//   Tested against MPFR.
// sqrt and rsqrt are double-double in both; their residue tells when they are
// exact.
#pragma once

#include "harness/numerics/double_double.h"
#include "harness/ops/function_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay {

struct WideResult {
  double high = 0, low = 0;
  double error = 0; // absolute; of the function alone, at exactly this argument
};

template <Function function> bool is_pole(double x) {
  if constexpr (function == Function::log || function == Function::rsqrt) return x == 0;
  if constexpr (function == Function::log1p) return x == -1;
  return false;
}

// |f'(x)|, with y = f(x).
template <Function function> double derivative(double x, double y) {
  if constexpr (function == Function::exp) return y;
  if constexpr (function == Function::expm1) return y + 1;
  if constexpr (function == Function::log) return 1 / std::fabs(x);
  if constexpr (function == Function::log1p) return 1 / std::fabs(1 + x);
  if constexpr (function == Function::sqrt) return 0.5 / y;
  if constexpr (function == Function::rsqrt) return 0.5 * y / x;
  if constexpr (function == Function::tanh) return (1 - y) * (1 + y);
  if constexpr (function == Function::erf || function == Function::erfc)
    return 0x1.20dd750429b6dp0 * std::exp(-x * x);
}

// max |f(x') - f(x)| over |x' - x| <= e (x' in f's domain), with y = f(x).
// Small factors for the rounding of the bound itself are the caller's.
template <Function function> double passed_error(double x, double e, double y) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if constexpr (function == Function::exp) {
    if (e < 0x1p-20) return y * (e * (1 + e));
    return e < 1 ? y * std::expm1(e) : std::exp(x + e);
  }
  if constexpr (function == Function::expm1) return passed_error<Function::exp>(x, e, y + 1);
  if constexpr (function == Function::log) return x > e ? -std::log1p(-e / x) : infinity;
  if constexpr (function == Function::log1p) return 1 + x > e ? -std::log1p(-e / (1 + x)) : infinity;
  if constexpr (function == Function::sqrt) return std::min(e / y, std::sqrt(e)); // y = 0: the second
  if constexpr (function == Function::rsqrt)
    return x > e ? y * 0.5 * e / (x - e) * std::sqrt(x / (x - e)) : infinity;
  if constexpr (function == Function::tanh || function == Function::erf || function == Function::erfc) {
    const double nearest = std::max(0.0, std::fabs(x) - e); // where the slope is largest
    return e * derivative<function>(nearest, std::tanh(nearest));
  }
}

namespace wide {

inline constexpr DoubleDouble ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// exp(x) - 1 for |x| <= 0.35, relative error below 2^-97: Taylor on x / 256,
// then (1 + p)^2 - 1 = 2p + p^2 eight times.
inline DoubleDouble small_expm1(DoubleDouble x) {
  x = {x.high / 256, x.low / 256};
  DoubleDouble p = 0, term = x;
  for (int n = 2; n <= 14; ++n) {
    p += term;
    term = term * x / double(n);
  }
  for (int i = 0; i < 8; ++i) p = p * 2.0 + p * p;
  return p;
}

inline DoubleDouble exp(DoubleDouble x) {
  const double k = std::nearbyint(x.high / ln2.high);
  const DoubleDouble p = small_expm1(x - ln2 * k) + 1.0;
  const int e = static_cast<int>(k),
            half = e / 2; // in two steps, so that neither factor overflows
  return {std::ldexp(std::ldexp(p.high, half), e - half), std::ldexp(std::ldexp(p.low, half), e - half)};
}

// 2 atanh(s), s = x / (2 + x), for |x| <= 1/16.
inline DoubleDouble small_log1p(DoubleDouble x) {
  const DoubleDouble s = x / (x + 2.0), square = s * s;
  DoubleDouble total = 0, power = s;
  for (int n = 1; n <= 23; n += 2) {
    total += power / double(n);
    power *= square;
  }
  return total * 2.0;
}

inline DoubleDouble log(DoubleDouble x) {
  if (std::fabs(x.high - 1) <= 0.0625) return small_log1p(x - 1.0);
  int e = 0;
  const double m = std::frexp(x.high, &e); // scaled, so that exp below stays in range
  const DoubleDouble scaled{m, std::ldexp(x.low, -e)};
  const double guess = std::log(m);
  return ln2 * double(e) +
         (DoubleDouble(guess) + (scaled * exp(-guess) - 1.0)); // one Newton step: error squared
}

inline DoubleDouble expm1(DoubleDouble x) {
  return std::fabs(x.high) <= 0.25 ? small_expm1(x) : exp(x) - 1.0;
}

inline DoubleDouble tanh(DoubleDouble x) {
  if (std::fabs(x.high) > 40) return std::copysign(1.0, x.high);
  const DoubleDouble e = expm1(x * 2.0);
  return e / (e + 2.0);
}

} // namespace wide

// sqrt and rsqrt, exact ones with error 0.
template <Function function> WideResult root_function(double high, double low) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!(high > 0) || high == infinity) return {evaluate<function>(high), 0, 0};
  const DoubleDouble root = sqrt(DoubleDouble(high, low));
  const bool root_exact = low == 0 && root.low == 0 && std::fma(root.high, root.high, -high) == 0;
  if (high < 0x1p-900) [[unlikely]] { // the residues underflow
    const double y = evaluate<function>(high);
    return {y, 0, 0x1p-50 * y};
  }
  if constexpr (function == Function::sqrt)
    return {root.high, root.low, root_exact ? 0 : double_double_epsilon_sqrt * root.high};
  const DoubleDouble inverse = DoubleDouble(1) / root;
  const bool exact = root_exact && inverse.low == 0 && std::fma(root.high, inverse.high, -1.0) == 0;
  return {inverse.high, inverse.low,
          exact ? 0 : (double_double_epsilon_sqrt + double_double_epsilon_div) * inverse.high};
}

// exp(x) for |x| <= 707, inline: x = k ln 2 + r, |r| <= 0.3466; Taylor to r^13
// (remainder below 2^-57), by Estrin. r is off by at most 2^-54, the polynomial
// by one rounding of the sum 1 + r + ... and small ones: below 2.2 units of
// 2^-53 in all.
[[gnu::always_inline]] inline double double_exp(double x) {
  constexpr double magic = 0x1.8p52; // x + magic - magic rounds to an integer
  const double shifted = x * 0x1.71547652b82fep0 + magic, k = shifted - magic;
  const double r = std::fma(-k, 0x1.abc9e3b39803fp-56, std::fma(-k, 0x1.62e42fefa39efp-1, x));
  const double r2 = r * r, r4 = r2 * r2;
  const double p23 = std::fma(r, 1.0 / 6, 0.5), p45 = std::fma(r, 1.0 / 120, 1.0 / 24);
  const double p67 = std::fma(r, 1.0 / 5040, 1.0 / 720), p89 = std::fma(r, 1.0 / 362880, 1.0 / 40320);
  const double p1011 = std::fma(r, 1.0 / 39916800, 1.0 / 3628800);
  const double p1213 = std::fma(r, 1.0 / 6227020800, 1.0 / 479001600);
  const double low = std::fma(r2, p45, p23), middle = std::fma(r2, p89, p67),
               high = std::fma(r2, p1213, p1011);
  const double tail = std::fma(r4, std::fma(r4, high, middle), low); // (exp(r) - 1 - r) / r^2
  const double power = 1 + std::fma(r2, tail, r);
  return power * std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023)
                                       << 52); // 2^k: k in its low bits
}

// f(x) is so far below the smallest double that no product with another double
// brings it back: 0 without error.
template <Function function> bool vanishes(double x) {
  if constexpr (function == Function::exp) return x < -2000;
  if constexpr (function == Function::erfc) return x > 100;
  return x == 0;
}

// The largest error of double_function in units of 2^-53 |f(x)|.
template <Function function> constexpr double double_function_units() {
  if (function == Function::tanh) return 6;
  if (function == Function::erfc) return 12;
  return 4;
}

template <Function function>
[[gnu::always_inline]] inline WideResult double_function(double high, double low) {
  if constexpr (function == Function::sqrt || function == Function::rsqrt) {
    return root_function<function>(high, low);
  } else {
    const bool inline_exp = function == Function::exp && std::fabs(high) <= 707;
    const double y = inline_exp ? double_exp(high) : evaluate<function>(high);
    double error = double_function_units<function>() * 0x1p-53 * std::fabs(y);
    if (std::fabs(y) < 0x1p-1021 && !vanishes<function>(high)) [[unlikely]]
      error += 0x1p-1073;
    if (low == 0 || !std::isfinite(y)) return {y, 0, error};
    // First order: f'' low^2 / 2 is below u |y|, or for log and log1p near 1
    // below correction^2.
    const double correction = (function == Function::erfc ? -1 : 1) * derivative<function>(high, y) * low;
    return {y + correction, 0, error + 0x1p-51 * std::fabs(correction) + correction * correction};
  }
}

template <Function function> WideResult wide_function(double high, double low) {
  if constexpr (function == Function::sqrt || function == Function::rsqrt) {
    return root_function<function>(high, low);
  } else if constexpr (function == Function::erf || function == Function::erfc) {
    const double slope = derivative<function>(high, 0) * (function == Function::erfc ? -1 : 1);
    const long double x = high;
    const long double y =
        (function == Function::erf ? std::erf(x) : std::erfc(x)) + static_cast<long double>(slope * low);
    const auto head = static_cast<double>(y);
    if (!std::isfinite(head) || vanishes<function>(high)) return {head, 0, 0};
    const double unit = std::numeric_limits<long double>::epsilon(); // glibc: 6 ULP for erfcl,
                                                                     // 1 for erfl
    return {head, static_cast<double>(y - head), 8 * unit * std::fabs(head) + 0x1p-1073};
  } else {
    const double plain = evaluate<function>(high);
    if (!std::isfinite(plain) || vanishes<function>(high)) return {plain, 0, 0};
    if (function == Function::exp && plain < 0x1p-1021) return {plain, 0, 0x1p-52 * plain + 0x1p-1073};
    constexpr bool odd =
        function == Function::expm1 || function == Function::log1p || function == Function::tanh;
    if (odd && std::fabs(high) < 0x1p-500)
      return {high, low, 0x1p-450 * std::fabs(high)}; // f(x) = x (1 + O(x))
    const DoubleDouble x{high, low};
    DoubleDouble y;
    if constexpr (function == Function::exp) y = wide::exp(x);
    if constexpr (function == Function::expm1) y = wide::expm1(x);
    if constexpr (function == Function::log) y = wide::log(x);
    if constexpr (function == Function::log1p)
      y = std::fabs(high) <= 0.0625 ? wide::small_log1p(x) : wide::log(x + 1.0);
    if constexpr (function == Function::tanh) y = wide::tanh(x);
    return {y.high, y.low, 0x1p-90 * std::fabs(y.high) + (std::fabs(y.high) < 0x1p-900 ? 0x1p-1073 : 0)};
  }
}

} // namespace assay
