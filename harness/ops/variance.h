// y = mean of (x - mean)^2 along each row (population variance); of nothing
// NaN.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/variance_row.h"

namespace assay {

struct Variance {
  static constexpr auto name = "variance";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto y = TensorSpec::output(1, "y", "rows");
  static constexpr TensorSpec tensors[] = {x, y};
  static constexpr bool reduces = true;
  static constexpr const char* algorithms[] = {"two_pass", "welford", "welford_by_updates",
                                               "welford_weighted"};

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto row = [&](auto i) { return line.load(x, {r, i}); };
      if (n == 0) return line.store(y, {r}, line.sum(n, row) / n);
      line.store(y, {r}, moments(line, n, row, line.algorithm()).squares / n);
    });
  }
};

} // namespace assay
