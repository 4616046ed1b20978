// Softmax over the entries that the mask keeps (1); a dropped entry is 0
// whatever the kept ones are, and a row with nothing kept is all 0.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/softmax_row.h"

namespace assay {

struct MaskedSoftmax {
  static constexpr auto name = "masked_softmax";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto mask =
      TensorSpec::input(1, "mask", "rows, cols").as(DType::u8).in(DomainKind::boolean);
  static constexpr auto y = TensorSpec::output(2, "y", "rows, cols");
  static constexpr TensorSpec tensors[] = {x, mask, y};
  static constexpr bool reduces = true;
  static constexpr const char* algorithms[] = {"two_pass", "online"};

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto kept = [&](auto i) { return line.load_index(mask, {r, i}) != 0; };
      const auto row = [&](auto i) {
        return kept(i) ? line.load(x, {r, i}) : line.number(-__builtin_huge_val());
      };
      const auto p = softmax_row(line, n, row, line.algorithm());
      line.each(n, [&](auto i) { line.store(y, {r, i}, kept(i) ? p[i] : line.number(0)); });
    });
  }
};

} // namespace assay
