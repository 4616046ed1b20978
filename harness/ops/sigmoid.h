// y = 1 / (1 + exp(-x)); backward from the stored y: y (1 - y).
#pragma once

#include "harness/ops/elementwise.h"

namespace assay {

struct Sigmoid : Elementwise<Sigmoid> {
  static constexpr auto name = "sigmoid";
  static constexpr const char* backward_algorithms[] = {"stored", "recomputed"};

  template <class Line, class Number> static Number value(const Line& line, const Number& x) {
    return sigmoid_of(line, x);
  }
  template <class Line, class Number> static Number slope(const Line& line, const Number& x) {
    if constexpr (Line::is_golden) return sigmoid_slope(line, x);
    const Number s = sigmoid_of(line, x);
    const Number stored = line.algorithm() == 0 ? line.round(s) : s;
    return stored * (1 - stored);
  }
};

} // namespace assay
