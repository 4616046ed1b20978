// y = silu(gate) * up; the eager formula rounds silu to T before the product.
#pragma once

#include "harness/ops/elementwise.h"
#include "harness/ops/silu.h"

namespace assay {

struct Swiglu {
  static constexpr auto name = "swiglu";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto gate = TensorSpec::input(0, "gate", "rows, cols").specials();
  static constexpr auto up = TensorSpec::input(1, "up", "rows, cols").specials();
  static constexpr auto y = TensorSpec::output(2, "y", "rows, cols");
  static constexpr auto grad_y = TensorSpec::upstream(3, "grad_y", y);
  static constexpr auto grad_gate = TensorSpec::gradient(4, "grad_gate", gate);
  static constexpr auto grad_up = TensorSpec::gradient(5, "grad_up", up);
  static constexpr TensorSpec tensors[] = {gate, up, y, grad_y, grad_gate, grad_up};
  static constexpr bool elementwise = true;
  static constexpr double max_ulp_f32 = 3; // expf, one add, one division, one product: seen on an H200

  template <class Run> static void forward(Run& run) {
    run.line([&](auto& line) {
      line.each(line.size(rows), line.size(cols), [&](auto r, auto i) {
        line.store(y, {r, i}, line.round(Silu::value(line, line.load(gate, {r, i}))) * line.load(up, {r, i}));
      });
    });
  }
  template <class Run> static void backward(Run& run) {
    run.line([&](auto& line) {
      line.each(line.size(rows), line.size(cols), [&](auto r, auto i) {
        const auto g = line.load(grad_y, {r, i}), x = line.load(gate, {r, i});
        line.store(grad_gate, {r, i}, g * line.load(up, {r, i}) * Silu::slope(line, x));
        line.store(grad_up, {r, i}, g * line.round(Silu::value(line, x)));
      });
    });
  }
};

} // namespace assay
