// y = max(x, 0), NaN stays; the derivative is 0 at 0 and NaN at NaN.
#pragma once

#include "harness/ops/elementwise.h"

namespace assay {

struct Relu : Elementwise<Relu> {
  static constexpr auto name = "relu";
  static constexpr bool exact = true;
  static constexpr double max_ulp_narrow = 0, max_ulp_f32 = 0;

  template <class Line, class Number> static Number value(const Line&, const Number& x) {
    return maximum(Number(0), x);
  }
  template <class Line, class Number> static Number slope(const Line&, const Number& x) {
    return x > 0 ? Number(1) : x < 0 || x == 0 ? Number(0) : x;
  }
};

} // namespace assay
