// y = x Phi(x), Phi the normal distribution: x (1 + erf(x / sqrt 2)) / 2, which
// cancels below 0; golden: erfc.
#pragma once

#include "harness/ops/elementwise.h"

namespace assay {

struct GeluErf : Elementwise<GeluErf> {
  static constexpr auto name = "gelu_erf";

  static constexpr const char* algorithms[] = {"erf", "erfc"};
  static constexpr const char* backward_algorithms[] = {"erf", "erfc"};

  template <class Line, class Number> static Number value(const Line& line, const Number& x) {
    return Number(0.5) * x * twice_phi(line, x);
  }
  template <class Line, class Number> static Number slope(const Line& line, const Number& x) {
    const Number density = Number(one_over_sqrt_two_pi) * exp(Number(-0.5) * x * x);
    return Number(0.5) * twice_phi(line, x) + x * density;
  }

 private:
  template <class Line, class Number> static Number twice_phi(const Line& line, const Number& x) {
    if (Line::is_golden || line.algorithm() != 0) return erfc(-x * Number(sqrt_half));
    return 1 + erf(x * Number(sqrt_half));
  }
};

} // namespace assay
