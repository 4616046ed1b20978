// y = x / (1 + exp(-x)); its derivative is s (1 + x (1 - s)) with s =
// sigmoid(x).
#pragma once

#include "harness/ops/elementwise.h"

namespace assay {

struct Silu : Elementwise<Silu> {
  static constexpr auto name = "silu";

  template <class Line, class Number> static Number value(const Line&, const Number& x) {
    return x / (1 + exp(-x));
  }
  template <class Line, class Number> static Number slope(const Line& line, const Number& x) {
    if constexpr (Line::is_golden) return sigmoid_of(line, x) + x * sigmoid_slope(line, x);
    const Number s = sigmoid_of(line, x);
    return s * (1 + x * (1 - s));
  }
};

} // namespace assay
