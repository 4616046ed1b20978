// y = the mean of each row; of nothing NaN.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/variance_row.h"

namespace assay {

struct Mean {
  static constexpr auto name = "mean";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto y = TensorSpec::output(1, "y", "rows");
  static constexpr TensorSpec tensors[] = {x, y};
  static constexpr bool reduces = true;
  // How the number of terms is divided by, or a mean of some taken on: it matters where every sum is exact,
  // or the terms are subnormal.
  static constexpr const char* algorithms[] = {"divided", "by_reciprocal", "terms_scaled", "running",
                                               "running, weighted"};
  enum { divided, by_reciprocal, terms_scaled, running, running_weighted };

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto row = [&](auto i) { return line.load(x, {r, i}); };
      const int algorithm = line.algorithm();
      if (algorithm == divided || n == 0) return line.store(y, {r}, line.sum(n, row) / n);
      if (algorithm == running) return line.store(y, {r}, moments(line, n, row, welford_by_updates).mean);
      if (algorithm == running_weighted)
        return line.store(y, {r}, moments(line, n, row, welford_weighted).mean);
      const auto inverse = line.number(1) / n;
      if (algorithm == by_reciprocal) return line.store(y, {r}, line.sum(n, row) * inverse);
      line.store(y, {r}, line.sum(n, [&](auto i) { return row(i) * inverse; }));
    });
  }
};

} // namespace assay
