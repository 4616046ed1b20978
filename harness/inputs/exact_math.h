// exp2, sin and cos from IEEE double operations alone, the same on every machine (libm differs from one to
// the next). Accurate to about 1e-15 for |x| < 1000 and angles below 2^30; what rotary caches need.
#pragma once

#include "harness/inputs/element.h"

namespace assay {

struct SinCos {
  double sin = 0;
  double cos = 1;
};

// 2^x for |x| <= 1000.
ASSAY_ANYWHERE double exact_exp2(double x) {
  const double whole = (x + 0x1.8p52) - 0x1.8p52; // nearest integer
  const double y = (x - whole) * 0.69314718055994531;
  double term = 1, sum = 1;
  for (int n = 1; n <= 14; ++n) { // |y| <= 0.35: 0.35^15 / 15! < 2e-19
    term = term * y / n;
    sum += term;
  }
  return sum * element::power_of_two(static_cast<int>(whole));
}

// Cody and Waite reduction by pi/2 in three parts, then Taylor series on [-pi/4, pi/4].
ASSAY_ANYWHERE SinCos exact_sin_cos(double angle) {
  const double quarter = (angle * 0.63661977236758134 + 0x1.8p52) - 0x1.8p52;
  const double y = ((angle - quarter * 0x1.921fb54400000p+0) - quarter * 0x1.0b4611a600000p-34) -
                   quarter * 0x1.3198a2e037073p-69;
  const double square = y * y;
  double sine = 0, cosine = 0;
  for (int n = 8; n >= 1; --n) { // 0.79^19 / 19! < 1e-19
    sine = (1 + sine) * -square / ((2 * n) * (2 * n + 1));
    cosine = (1 + cosine) * -square / ((2 * n - 1) * (2 * n));
  }
  sine = y * (1 + sine);
  cosine = 1 + cosine;
  switch (static_cast<long long>(quarter) & 3) {
  case 0:
    return {sine, cosine};
  case 1:
    return {cosine, -sine};
  case 2:
    return {-sine, -cosine};
  default:
    return {-cosine, sine};
  }
}

} // namespace assay
