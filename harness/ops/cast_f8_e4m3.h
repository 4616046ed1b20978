// y = x as E4M3: nearest even, saturating to +-448, infinities too.
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct CastF8E4m3 {
  static constexpr auto name = "cast_f8_e4m3";
  static constexpr Dim n{0, "n"};
  static constexpr Dim dims[] = {n};
  static constexpr auto x = TensorSpec::input(0, "x", "n").specials();
  static constexpr auto y = TensorSpec::output(1, "y", "n").as(DType::f8e4m3);
  static constexpr TensorSpec tensors[] = {x, y};
  static constexpr bool elementwise = true;
  static constexpr double max_ulp_narrow = 0,
                          max_ulp_f32 = 0; // correctly rounded

  template <class Run> static void forward(Run& run) {
    run.line(
        [](auto& line) { line.each(line.size(n), [&](auto i) { line.store(y, {i}, line.load(x, {i})); }); });
  }
};

} // namespace assay
