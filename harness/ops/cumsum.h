// y[i] = x[0] + ... + x[i] along each row.
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct Cumsum {
  static constexpr auto name = "cumsum";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto y = TensorSpec::output(1, "y", "rows, cols");
  static constexpr TensorSpec tensors[] = {x, y};
  static constexpr bool reduces = true;

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto row = [&](auto i) { return line.load(x, {r, i}); };
      line.scan(n, row, [&](auto i, const auto& prefix) { line.store(y, {r, i}, prefix); });
    });
  }
};

} // namespace assay
