// y = exp(x - max x) / sum exp(x - max x) along each row. A row that is all
// -inf, or holds +inf or NaN, is all NaN.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/softmax_row.h"

namespace assay {

struct Softmax {
  static constexpr auto name = "softmax";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto y = TensorSpec::output(1, "y", "rows, cols");
  static constexpr auto grad_y = TensorSpec::upstream(2, "grad_y", y);
  static constexpr auto grad_x = TensorSpec::gradient(3, "grad_x", x);
  static constexpr TensorSpec tensors[] = {x, y, grad_y, grad_x};
  static constexpr bool reduces = true;
  static constexpr const char* algorithms[] = {"two_pass", "online"};
  static constexpr const char* backward_algorithms[] = {"stored", "recomputed", "stored, distributed",
                                                        "recomputed, distributed"};

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto p = softmax_row(line, n, [&](auto i) { return line.load(x, {r, i}); }, line.algorithm());
      line.each(n, [&](auto i) { line.store(y, {r, i}, p[i]); });
    });
  }

  // grad_x = y * (grad_y - sum grad_y * y), with y as forward stored it; distributed: y * grad_y - y * sum.
  template <class Run> static void backward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto p = softmax_row(line, n, [&](auto i) { return line.load(x, {r, i}); });
      if (line.algorithm() % 2 == 0) line.each(n, [&](auto i) { p[i] = line.round(p[i]); });
      const auto g = [&](auto i) { return line.load(grad_y, {r, i}); };
      const auto dot = line.sum(n, [&](auto i) { return g(i) * p[i]; });
      line.each(n, [&](auto i) {
        if (line.algorithm() < 2) return line.store(grad_x, {r, i}, p[i] * (g(i) - dot));
        auto own = line.number(0);
        own = g(i) * p[i]; // rounded before the difference, as it was for the sum
        line.store(grad_x, {r, i}, own - p[i] * dot);
      });
    });
  }
};

} // namespace assay
