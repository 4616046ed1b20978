// c = a b.
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct Gemm {
  static constexpr auto name = "gemm";
  static constexpr Dim m{0, "m"}, n{1, "n"}, k{2, "k"};
  static constexpr Dim dims[] = {m, n, k};
  static constexpr auto a = TensorSpec::input(0, "a", "m, k").specials();
  static constexpr auto b = TensorSpec::input(1, "b", "k, n").specials();
  static constexpr auto c = TensorSpec::output(2, "c", "m, n");
  static constexpr TensorSpec tensors[] = {a, b, c};
  static constexpr bool reduces = true;
  static constexpr bool one_form = true;

  template <class Run> static void forward(Run& run) {
    run.lines(m, [](auto& line) {
      const auto i = line.index();
      line.each(line.size(n), [&](auto j) {
        const auto term = [&](auto l) { return line.load(a, {i, l}) * line.load(b, {l, j}); };
        line.store(c, {i, j}, line.sum(line.size(k), term));
      });
    });
  }
};

} // namespace assay
