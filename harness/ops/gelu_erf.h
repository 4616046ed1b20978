// y = x Phi(x), Phi the normal distribution: x (1 + erf(x / sqrt 2)) / 2, which
// cancels below 0; golden: erfc.
#pragma once

#include "harness/ops/elementwise.h"

namespace assay {

struct GeluErf : Elementwise<GeluErf> {
  static constexpr auto name = "gelu_erf";

  template <class Line, class Number>
  static Number value(const Line &, const Number &x) {
    if constexpr (Line::is_golden)
      return Number(0.5) * x * erfc(-x * Number(sqrt_half));
    return Number(0.5) * x * (1 + erf(x * Number(sqrt_half)));
  }
  template <class Line, class Number>
  static Number slope(const Line &, const Number &x) {
    const Number density =
        Number(one_over_sqrt_two_pi) * exp(Number(-0.5) * x * x);
    if constexpr (Line::is_golden)
      return Number(0.5) * erfc(-x * Number(sqrt_half)) + x * density;
    return Number(0.5) * (1 + erf(x * Number(sqrt_half))) + x * density;
  }
};

} // namespace assay
