// y[c, r] = x[r, c].
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct Transpose {
  static constexpr auto name = "transpose";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto y = TensorSpec::output(1, "y", "cols, rows");
  static constexpr TensorSpec tensors[] = {x, y};
  static constexpr bool exact = true;

  template <class Run> static void forward(Run& run) {
    run.lines(cols, [](auto& line) {
      const auto c = line.index();
      line.each(line.size(rows), [&](auto r) { line.store(y, {c, r}, line.load(x, {r, c})); });
    });
  }
};

} // namespace assay
