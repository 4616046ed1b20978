// y = a + b.
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct Add {
  static constexpr auto name = "add";
  static constexpr Dim n{0, "n"};
  static constexpr Dim dims[] = {n};
  static constexpr auto a = TensorSpec::input(0, "a", "n").specials();
  static constexpr auto b = TensorSpec::input(1, "b", "n").specials();
  static constexpr auto y = TensorSpec::output(2, "y", "n");
  static constexpr TensorSpec tensors[] = {a, b, y};
  static constexpr bool elementwise = true;
  static constexpr double max_ulp_narrow = 0,
                          max_ulp_f32 = 0; // correctly rounded

  template <class Run> static void forward(Run& run) {
    run.line([](auto& line) {
      line.each(line.size(n), [&](auto i) { line.store(y, {i}, line.load(a, {i}) + line.load(b, {i})); });
    });
  }
};

} // namespace assay
