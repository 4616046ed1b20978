// y = x / max(sum |x|, eps) * weight + bias along each row.
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct L1Affine {
  static constexpr auto name = "l1_affine";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols");
  static constexpr auto weight = TensorSpec::input(1, "weight", "cols");
  static constexpr auto bias = TensorSpec::input(2, "bias", "cols");
  static constexpr auto y = TensorSpec::output(3, "y", "rows, cols");
  static constexpr TensorSpec tensors[] = {x, weight, bias, y};
  static constexpr Param eps{0, "eps", DType::f32, 1e-6};
  static constexpr Param params[] = {eps};
  static constexpr bool reduces = true;

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto norm =
          maximum(line.param(eps), line.sum(n, [&](auto i) { return abs(line.load(x, {r, i})); }));
      line.each(n, [&](auto i) {
        line.store(y, {r, i}, line.load(x, {r, i}) / norm * line.load(weight, {i}) + line.load(bias, {i}));
      });
    });
  }
};

} // namespace assay
