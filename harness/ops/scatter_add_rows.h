// y[t] = the sum of the rows x[r] with index[r] = t, from 0.
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct ScatterAddRows {
  static constexpr auto name = "scatter_add_rows";
  static constexpr Dim rows{0, "rows"}, table_rows{1, "table_rows", 1}, cols{2, "cols"};
  static constexpr Dim dims[] = {rows, table_rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto index =
      TensorSpec::input(1, "index", "rows").as(DType::i32).in(DomainKind::index, "table_rows");
  static constexpr auto y = TensorSpec::output(2, "y", "table_rows, cols").cleared();
  static constexpr TensorSpec tensors[] = {x, index, y};
  static constexpr bool reduces = true;

  template <class Run> static void forward(Run& run) {
    run.lines(table_rows, [](auto& line) {
      const auto t = line.index();
      line.each(line.size(cols), [&](auto i) {
        const auto term = [&](auto r) {
          return line.load_index(index, {r}) == t ? line.load(x, {r, i}) : line.number(0);
        };
        line.store(y, {t, i}, line.sum(line.size(rows), term));
      });
    });
  }
};

} // namespace assay
