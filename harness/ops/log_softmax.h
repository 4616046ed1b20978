// y = (x - max x) - log(sum exp(x - max x)) along each row.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/softmax_row.h"

namespace assay {

struct LogSoftmax {
  static constexpr auto name = "log_softmax";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto y = TensorSpec::output(1, "y", "rows, cols");
  static constexpr auto grad_y = TensorSpec::upstream(2, "grad_y", y);
  static constexpr auto grad_x = TensorSpec::gradient(3, "grad_x", x);
  static constexpr TensorSpec tensors[] = {x, y, grad_y, grad_x};
  static constexpr bool reduces = true;
  static constexpr const char* algorithms[] = {"two_pass", "online"};
  static constexpr const char* backward_algorithms[] = {"stored", "recomputed"};

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      if (n == 0) return;
      const auto row = [&](auto i) { return line.load(x, {r, i}); };
      const auto state = softmax_state(line, n, row, line.algorithm());
      const auto log_total = log(state.total);
      line.each(n, [&](auto i) { line.store(y, {r, i}, (row(i) - state.largest) - log_total); });
    });
  }

  // grad_x = grad_y - exp(y) * sum grad_y, with y as forward stored it.
  template <class Run> static void backward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      if (n == 0) return;
      const auto row = [&](auto i) { return line.load(x, {r, i}); };
      const auto g = [&](auto i) { return line.load(grad_y, {r, i}); };
      const auto state = softmax_state(line, n, row);
      const auto log_total = log(state.total);
      const auto total = line.sum(n, g);
      line.each(n, [&](auto i) {
        auto stored = (row(i) - state.largest) - log_total;
        if (line.algorithm() == 0) stored = line.round(stored);
        line.store(grad_x, {r, i}, g(i) - exp(stored) * total);
      });
    });
  }
};

} // namespace assay
