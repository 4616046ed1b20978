// Double-double arithmetic: an unevaluated sum high + low of two doubles, |low| <= ulp(high)/2, about 106
// bits. Also compiled by NVRTC, hence no std::. With u = 2^-53, and no underflow of the low words (results
// above 2^-969), the relative errors are bounded by (Joldes, Muller, Popescu, "Tight and rigorous error
// bounds for basic building blocks of double-word arithmetic", ACM TOMS 44(2), 2017; sqrt: Lefevre, Louvet,
// Muller, Picot, Rideau, ACM TOMS 49(1), 2023)
//   + and -  3u^2 + 13u^3     with a double  2u^2
//   *        5u^2             with a double  2u^2
//   /        15u^2 + 56u^3    sqrt           25/8 u^2
// Infinities and NaN behave as in double (the low word is then 0).
#pragma once

#ifdef __CUDACC__
#define ASSAY_HOST_DEVICE __host__ __device__
#else
#define ASSAY_HOST_DEVICE
#endif
#ifndef __CUDACC_RTC__
#include <math.h>
#endif

namespace assay {

struct DoubleDouble {
  double high = 0;
  double low = 0;

  ASSAY_HOST_DEVICE constexpr DoubleDouble() {}
  ASSAY_HOST_DEVICE constexpr DoubleDouble(double value) : high(value) {}
  ASSAY_HOST_DEVICE constexpr DoubleDouble(double h, double l) : high(h), low(l) {}

  // Found for DoubleDouble alone, so that sqrt and abs of a double stay what they are.
  ASSAY_HOST_DEVICE friend DoubleDouble abs(DoubleDouble a) {
    return a.high < 0 ? DoubleDouble(-a.high, -a.low) : DoubleDouble(fabs(a.high), a.low);
  }
  ASSAY_HOST_DEVICE friend DoubleDouble sqrt(DoubleDouble a) { return square_root(a); }

 private:
  ASSAY_HOST_DEVICE static DoubleDouble square_root(DoubleDouble a); // of 0 and infinity itself; below 0 NaN
};

// Relative error bounds of the operations, each rounded up.
inline constexpr double double_double_epsilon_add = 0x1.9p-105; // 3.125 u^2
inline constexpr double double_double_epsilon_mul = 0x1.4p-104; // 5 u^2
inline constexpr double double_double_epsilon_div = 0x1p-102;   // 16 u^2
inline constexpr double double_double_epsilon_sqrt = 0x1.9p-105;

ASSAY_HOST_DEVICE inline bool dd_finite(double x) { return x - x == 0; }

// a + b = high + low exactly (Knuth), unless the sum overflows.
ASSAY_HOST_DEVICE inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  if (!dd_finite(sum)) return {sum, 0};
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// The same where |a| >= |b| or a = 0 (Dekker).
ASSAY_HOST_DEVICE inline DoubleDouble fast_two_sum(double a, double b) {
  const double sum = a + b;
  if (!dd_finite(sum)) return {sum, 0};
  return {sum, b - (sum - a)};
}

// a * b = high + low exactly, unless low underflows.
ASSAY_HOST_DEVICE inline DoubleDouble two_prod(double a, double b) {
  const double product = a * b;
  if (!dd_finite(product)) return {product, 0};
  return {product, fma(a, b, -product)};
}

ASSAY_HOST_DEVICE inline DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }

ASSAY_HOST_DEVICE inline DoubleDouble operator+(DoubleDouble a, double b) {
  const DoubleDouble sum = two_sum(a.high, b);
  if (!dd_finite(sum.high)) return {sum.high, 0};
  return fast_two_sum(sum.high, sum.low + a.low);
}
ASSAY_HOST_DEVICE inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble sum = two_sum(a.high, b.high);
  if (!dd_finite(sum.high)) return {sum.high, 0};
  const DoubleDouble lows = two_sum(a.low, b.low);
  const DoubleDouble partial = fast_two_sum(sum.high, sum.low + lows.high);
  if (!dd_finite(partial.high)) return partial;
  return fast_two_sum(partial.high, partial.low + lows.low);
}
ASSAY_HOST_DEVICE inline DoubleDouble operator+(double a, DoubleDouble b) { return b + a; }
ASSAY_HOST_DEVICE inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }
ASSAY_HOST_DEVICE inline DoubleDouble operator-(DoubleDouble a, double b) { return a + -b; }
ASSAY_HOST_DEVICE inline DoubleDouble operator-(double a, DoubleDouble b) { return -b + a; }

ASSAY_HOST_DEVICE inline DoubleDouble operator*(DoubleDouble a, double b) {
  const DoubleDouble product = two_prod(a.high, b);
  if (!dd_finite(product.high)) return product;
  return fast_two_sum(product.high, fma(a.low, b, product.low));
}
ASSAY_HOST_DEVICE inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = two_prod(a.high, b.high);
  if (!dd_finite(product.high)) return product;
  const double cross = fma(a.low, b.high, fma(a.high, b.low, a.low * b.low));
  return fast_two_sum(product.high, product.low + cross);
}
ASSAY_HOST_DEVICE inline DoubleDouble operator*(double a, DoubleDouble b) { return b * a; }

ASSAY_HOST_DEVICE inline DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double quotient = a.high / b.high;
  if (!dd_finite(quotient) || !dd_finite(b.high)) return {quotient, 0};
  const DoubleDouble back = b * quotient;
  if (!dd_finite(back.high)) return {quotient, 0};
  const double rest = (a.high - back.high) + (a.low - back.low);
  return fast_two_sum(quotient, rest / b.high);
}
ASSAY_HOST_DEVICE inline DoubleDouble operator/(double a, DoubleDouble b) { return DoubleDouble(a) / b; }
ASSAY_HOST_DEVICE inline DoubleDouble operator/(DoubleDouble a, double b) { return a / DoubleDouble(b); }

ASSAY_HOST_DEVICE inline DoubleDouble& operator+=(DoubleDouble& a, DoubleDouble b) { return a = a + b; }
ASSAY_HOST_DEVICE inline DoubleDouble& operator+=(DoubleDouble& a, double b) { return a = a + b; }
ASSAY_HOST_DEVICE inline DoubleDouble& operator-=(DoubleDouble& a, DoubleDouble b) { return a = a - b; }
ASSAY_HOST_DEVICE inline DoubleDouble& operator*=(DoubleDouble& a, DoubleDouble b) { return a = a * b; }
ASSAY_HOST_DEVICE inline DoubleDouble& operator/=(DoubleDouble& a, DoubleDouble b) { return a = a / b; }

ASSAY_HOST_DEVICE inline bool operator<(DoubleDouble a, DoubleDouble b) {
  return a.high < b.high || (a.high == b.high && a.low < b.low);
}
ASSAY_HOST_DEVICE inline bool operator>(DoubleDouble a, DoubleDouble b) { return b < a; }
ASSAY_HOST_DEVICE inline bool operator==(DoubleDouble a, DoubleDouble b) {
  return a.high == b.high && a.low == b.low;
}

ASSAY_HOST_DEVICE inline DoubleDouble DoubleDouble::square_root(DoubleDouble a) {
  const double root = ::sqrt(a.high);
  if (root == 0 || !dd_finite(root)) return {root, 0};
  const double rest = fma(-root, root, a.high);
  return fast_two_sum(root, (rest + a.low) / (2 * root));
}

ASSAY_HOST_DEVICE inline double to_double(DoubleDouble a) { return a.high + a.low; }

} // namespace assay
