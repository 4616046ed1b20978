// y = log of the sum of exp(x), as max + log(sum exp(x - max)), or base two: the same in powers of two, which
// is then scaled by ln 2. All -inf, or nothing: -inf; with +inf and no NaN: +inf.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/softmax_row.h"

#include <type_traits>

namespace assay {

struct Logsumexp {
  static constexpr auto name = "logsumexp";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto y = TensorSpec::output(1, "y", "rows");
  static constexpr TensorSpec tensors[] = {x, y};
  static constexpr bool reduces = true;
  static constexpr const char* algorithms[] = {"two_pass", "online", "base_two"};

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      using Number = typename std::remove_cvref_t<decltype(line)>::Number;
      const auto r = line.index(), n = line.size(cols);
      const auto row = [&](auto i) { return line.load(x, {r, i}); };
      const auto largest = largest_of(line, n, row);
      if (abs(largest) == line.number(__builtin_huge_val())) {
        line.store(y, {r}, largest);
      } else if (line.algorithm() == online) {
        const auto state = online_state(line, n, row);
        line.store(y, {r}, state.largest + log(state.total));
      } else {
        const auto log_of_sum = log(line.sum(n, [&](auto i) { return exp(row(i) - largest); }));
        if (line.algorithm() == two_pass)
          line.store(y, {r}, largest + log_of_sum);
        else
          line.store(y, {r}, (largest * Number(log2_of_e) + log_of_sum * Number(log2_of_e)) * Number(ln_2));
      }
    });
  }
};

} // namespace assay
