// y = x (1 + tanh u) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3); golden: x
// sigmoid(2 u), which does not cancel.
#pragma once

#include "harness/ops/elementwise.h"

namespace assay {

struct GeluTanh : Elementwise<GeluTanh> {
  static constexpr auto name = "gelu_tanh";

  template <class Line, class Number> static Number value(const Line& line, const Number& x) {
    const Number u = Number(sqrt_two_over_pi) * (x + Number(gelu_cubic) * x * x * x);
    if constexpr (Line::is_golden) return x * sigmoid_of(line, Number(2 * u));
    return Number(0.5) * x * (1 + tanh(u));
  }
  template <class Line, class Number> static Number slope(const Line& line, const Number& x) {
    const Number u = Number(sqrt_two_over_pi) * (x + Number(gelu_cubic) * x * x * x);
    const Number u_slope = Number(sqrt_two_over_pi) * (1 + 3 * Number(gelu_cubic) * x * x);
    if constexpr (Line::is_golden)
      return sigmoid_of(line, Number(2 * u)) + 2 * x * sigmoid_slope(line, Number(2 * u)) * u_slope;
    const Number t = tanh(u);
    return Number(0.5) * (1 + t) + Number(0.5) * x * (1 - t * t) * u_slope;
  }
};

} // namespace assay
