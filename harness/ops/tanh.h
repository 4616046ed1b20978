// y = tanh(x); backward from the stored y: 1 - y^2.
#pragma once

#include "harness/ops/elementwise.h"

namespace assay {

struct Tanh : Elementwise<Tanh> {
  static constexpr auto name = "tanh";
  static constexpr const char* backward_algorithms[] = {"stored", "recomputed"};

  template <class Line, class Number> static Number value(const Line&, const Number& x) { return tanh(x); }
  template <class Line, class Number> static Number slope(const Line& line, const Number& x) {
    if constexpr (Line::is_golden) { // 4 t / (1 + t)^2 with t = exp(-2 |x|)
      return 4 * sigmoid_slope(line, Number(2 * x));
    }
    const Number t = tanh(x);
    const Number stored = line.algorithm() == 0 ? line.round(t) : t;
    return 1 - stored * stored;
  }
};

} // namespace assay
