// y = x / max(norm, eps), norm = sqrt(sum x^2) along each row.
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct L2Normalize {
  static constexpr auto name = "l2_normalize";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto y = TensorSpec::output(1, "y", "rows, cols");
  static constexpr TensorSpec tensors[] = {x, y};
  static constexpr Param eps{0, "eps", DType::f32, 1e-12};
  static constexpr Param params[] = {eps};
  static constexpr bool reduces = true;

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto row = [&](auto i) { return line.load(x, {r, i}); };
      const auto norm = maximum(line.param(eps), sqrt(line.sum(n, [&](auto i) { return row(i) * row(i); })));
      line.each(n, [&](auto i) { line.store(y, {r, i}, row(i) / norm); });
    });
  }
};

} // namespace assay
