// y = the sum of each row.
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct Sum {
  static constexpr auto name = "sum";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto y = TensorSpec::output(1, "y", "rows");
  static constexpr TensorSpec tensors[] = {x, y};
  static constexpr bool reduces = true;
  static constexpr bool one_form = true;

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto row = [&](auto i) { return line.load(x, {r, i}); };
      line.store(y, {r}, line.sum(n, row));
    });
  }
};

} // namespace assay
