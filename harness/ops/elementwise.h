// Operators of one input, element by element. An operator E derives from
// Elementwise<E> and supplies
//   value(line, x)        y
//   slope(line, x)        dy/dx, closed so that golden does not cancel
//   gradient(line, g, x)  g dy/dx, where a legal form has g meet one of the slope's factors first
#pragma once

#include "harness/ops/formula.h"

namespace assay {

template <class E> struct Elementwise {
  static constexpr Dim n{0, "n"};
  static constexpr Dim dims[] = {n};
  static constexpr auto x = TensorSpec::input(0, "x", "n").specials();
  static constexpr auto y = TensorSpec::output(1, "y", "n");
  static constexpr auto grad_y = TensorSpec::upstream(2, "grad_y", y);
  static constexpr auto grad_x = TensorSpec::gradient(3, "grad_x", x);
  static constexpr TensorSpec tensors[] = {x, y, grad_y, grad_x};
  static constexpr bool elementwise = true;

  template <class Run> static void forward(Run& run) {
    run.line([](auto& line) {
      line.each(line.size(n), [&](auto i) { line.store(y, {i}, E::value(line, line.load(x, {i}))); });
    });
  }
  template <class Run> static void backward(Run& run) {
    run.line([](auto& line) {
      line.each(line.size(n), [&](auto i) {
        line.store(grad_x, {i}, E::gradient(line, line.load(grad_y, {i}), line.load(x, {i})));
      });
    });
  }
  template <class Line, class Number>
  static Number gradient(const Line& line, const Number& g, const Number& at) {
    return g * E::slope(line, at);
  }
};

// 1 / (1 + exp(-x)); golden never overflows on the way.
template <class Line, class Number> Number sigmoid_of(const Line&, const Number& x) {
  if constexpr (Line::is_golden) {
    const Number t = exp(-abs(x));
    return x < 0 ? t / (1 + t) : 1 / (1 + t);
  }
  return 1 / (1 + exp(-x));
}

// Its derivative: s (1 - s) = t / (1 + t)^2 with t = exp(-|x|).
template <class Line, class Number> Number sigmoid_slope(const Line& line, const Number& x) {
  if constexpr (Line::is_golden) {
    const Number t = exp(-abs(x)), one_and_t = 1 + t;
    return t / (one_and_t * one_and_t);
  }
  const Number s = sigmoid_of(line, x);
  return s * (1 - s);
}

} // namespace assay
