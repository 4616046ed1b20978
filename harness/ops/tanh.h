// y = tanh(x); backward from the stored y: g (1 - y^2), or (g (1 - y)) (1 + y), or (g + g y) (1 - y).
#pragma once

#include "harness/ops/elementwise.h"

namespace assay {

struct Tanh : Elementwise<Tanh> {
  static constexpr auto name = "tanh";
  static constexpr const char* backward_algorithms[] = {
      "stored", "recomputed", "stored, factors", "recomputed, factors", "stored, added", "recomputed, added"};

  template <class Line, class Number> static Number value(const Line&, const Number& x) { return tanh(x); }
  template <class Line, class Number>
  static Number gradient(const Line& line, const Number& g, const Number& x) {
    if constexpr (Line::is_golden) { // the slope as 4 t / (1 + t)^2 with t = exp(-2 |x|)
      Number result = g * (4 * sigmoid_slope(line, Number(2 * x)));
      const double size = __builtin_fabs(g.value().high);
      if (result.finite() && !(2 * size < Number::may_overflow)) { // |y| is at most 1
        const Number y = tanh(x);
        if (!(size * (1 + __builtin_fabs(y.value().high)) < Number::may_overflow)) result.mark_overflow();
      }
      return result;
    }
    const Number y = tanh(x);
    const Number stored = line.algorithm() % 2 == 0 ? line.round(y) : y;
    if (line.algorithm() >= 4) return (g + g * stored) * (1 - stored);
    if (line.algorithm() >= 2) return g * (1 - stored) * (1 + stored);
    return g * (1 - stored * stored);
  }
};

} // namespace assay
