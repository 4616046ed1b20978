// y = gelu(x + bias) + residual, fused, and its gradients: an operator that Assay does not come with.
// Everything stays in the arithmetic type until the one store.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/gelu_erf.h"

namespace assay {

struct BiasGeluResidual {
  static constexpr auto name = "bias_gelu_residual";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols");
  static constexpr auto bias = TensorSpec::input(1, "bias", "cols");
  static constexpr auto residual = TensorSpec::input(2, "residual", "rows, cols");
  static constexpr auto y = TensorSpec::output(3, "y", "rows, cols");
  static constexpr auto grad_y = TensorSpec::upstream(4, "grad_y", y);
  static constexpr auto grad_x = TensorSpec::gradient(5, "grad_x", x);
  static constexpr auto grad_bias = TensorSpec::gradient(6, "grad_bias", bias);
  static constexpr auto grad_residual = TensorSpec::gradient(7, "grad_residual", residual);
  static constexpr TensorSpec tensors[] = {x, bias, residual, y, grad_y, grad_x, grad_bias, grad_residual};
  static constexpr bool reduces = true; // grad_bias
  // Two ways to the same normal distribution: 1 + erf, and erfc, which does not cancel.
  static constexpr const char* algorithms[] = {"erf", "erfc"};
  static constexpr const char* backward_algorithms[] = {"erf", "erfc"};

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index();
      line.each(line.size(cols), [&](auto i) {
        const auto v = line.load(x, {r, i}) + line.load(bias, {i});
        line.store(y, {r, i}, GeluErf::value(line, v) + line.load(residual, {r, i}));
      });
    });
  }

  // grad_x = grad_y * gelu'(x + bias); grad_bias: the sum of that over rows; grad_residual = grad_y.
  template <class Run> static void backward(Run& run) {
    const auto slope = [](auto& line, auto r, auto i) {
      const auto v = line.load(x, {r, i}) + line.load(bias, {i});
      return line.load(grad_y, {r, i}) * GeluErf::slope(line, v);
    };
    run.lines(rows, [&](auto& line) {
      const auto r = line.index();
      line.each(line.size(cols), [&](auto i) {
        line.store(grad_x, {r, i}, slope(line, r, i));
        line.store(grad_residual, {r, i}, line.load(grad_y, {r, i}));
      });
    });
    run.lines(cols, [&](auto& line) {
      const auto c = line.index();
      line.store(grad_bias, {c}, line.sum(line.size(rows), [&](auto r) { return slope(line, r, c); }));
    });
  }
};

} // namespace assay
