// y[r] = table[index[r]].
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct GatherRows {
  static constexpr auto name = "gather_rows";
  static constexpr Dim rows{0, "rows"}, table_rows{1, "table_rows", 1}, cols{2, "cols"};
  static constexpr Dim dims[] = {rows, table_rows, cols};
  static constexpr auto table = TensorSpec::input(0, "table", "table_rows, cols").specials();
  static constexpr auto index =
      TensorSpec::input(1, "index", "rows").as(DType::i32).in(DomainKind::index, "table_rows");
  static constexpr auto y = TensorSpec::output(2, "y", "rows, cols");
  static constexpr TensorSpec tensors[] = {table, index, y};
  static constexpr bool exact = true;

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), t = line.load_index(index, {r});
      line.each(line.size(cols), [&](auto i) { line.store(y, {r, i}, line.load(table, {t, i})); });
    });
  }
};

} // namespace assay
