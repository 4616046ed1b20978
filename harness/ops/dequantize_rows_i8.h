// y = q * scale, one scale a row.
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct DequantizeRowsI8 {
  static constexpr auto name = "dequantize_rows_i8";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto q = TensorSpec::input(0, "q", "rows, cols").as(DType::i8).in(DomainKind::code);
  static constexpr auto scale = TensorSpec::input(1, "scale", "rows").as(DType::f32).in(DomainKind::scale);
  static constexpr auto y = TensorSpec::output(2, "y", "rows, cols");
  static constexpr TensorSpec tensors[] = {q, scale, y};
  static constexpr bool elementwise = true;

  template <class Run> static void forward(Run& run) {
    run.line([](auto& line) {
      line.each(line.size(rows), line.size(cols),
                [&](auto r, auto i) { line.store(y, {r, i}, line.load(q, {r, i}) * line.load(scale, {r})); });
    });
  }
};

} // namespace assay
