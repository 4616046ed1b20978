// Symmetric int8 quantisation: scale = max|x| / 127 along each row, q = 127 x /
// max|x| to the nearest integer, ties to even; a zero row gives 0 and 0. Where
// max|x| / 127 or 127 / max|x| is not exact in float32, a quotient within 4
// float32 ULPs of a tie may go either way.
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct QuantizeRowsI8 {
  static constexpr auto name = "quantize_rows_i8";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").in(DomainKind::quantizable);
  static constexpr auto q = TensorSpec::output(1, "q", "rows, cols").as(DType::i8);
  static constexpr auto scale = TensorSpec::output(2, "scale", "rows").as(DType::f32);
  static constexpr TensorSpec tensors[] = {x, q, scale};

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto row = [&](auto i) { return line.load(x, {r, i}); };
      const auto largest = n == 0 ? line.number(0) : line.max(n, [&](auto i) { return abs(row(i)); });
      line.store(scale, {r}, largest / 127);
      const bool exact = fits_float(largest / 127) && fits_float(127 / largest);
      const double slack = exact ? 0 : 0x1p-21; // 4 ULPs of a value in [1, 2) are 2^-21
      line.each(n, [&](auto i) {
        if (largest == 0) return line.store_index(q, {r, i}, 0);
        line.store_nearest(q, {r, i}, row(i) * 127 / largest, slack);
      });
    });
  }

 private:
  template <class Number> static bool fits_float(const Number& v) {
    const auto value = v.value();
    return value.low == 0 && value.high == static_cast<double>(static_cast<float>(value.high));
  }
};

} // namespace assay
