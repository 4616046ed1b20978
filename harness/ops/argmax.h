// y = the place of the first largest of each row; the first NaN is the largest.
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct Argmax {
  static constexpr auto name = "argmax";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols", 1};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto y = TensorSpec::output(1, "y", "rows").as(DType::i32);
  static constexpr TensorSpec tensors[] = {x, y};

  static constexpr bool exact = true;

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto row = [&](auto i) { return line.load(x, {r, i}); };
      line.store_index(y, {r}, line.first_max(n, row));
    });
  }
};

} // namespace assay
