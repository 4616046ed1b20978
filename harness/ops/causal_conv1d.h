// y[t] = bias + sum over j of weight[j] * x[t - (width - 1) + j], x = 0 left of
// 0; channels are independent.
#pragma once

#include "harness/ops/formula.h"

#include <type_traits>

namespace assay {

struct CausalConv1d {
  static constexpr auto name = "causal_conv1d";
  static constexpr Dim batch{0, "batch"}, channels{1, "channels"}, length{2, "length"}, width{3, "width", 1};
  static constexpr Dim dims[] = {batch, channels, length, width};
  static constexpr auto x = TensorSpec::input(0, "x", "batch, channels, length").specials();
  static constexpr auto weight = TensorSpec::input(1, "weight", "channels, width").specials();
  static constexpr auto bias = TensorSpec::input(2, "bias", "channels").specials();
  static constexpr auto y = TensorSpec::output(3, "y", "batch, channels, length");
  static constexpr TensorSpec tensors[] = {x, weight, bias, y};
  static constexpr bool reduces = true;
  static constexpr const char* algorithms[] = {"bias_last", "bias_first"};
  enum { bias_last, bias_first };

  template <class Run> static void forward(Run& run) {
    run.lines({batch, channels}, [](auto& line) {
      const auto b = line.index(0), c = line.index(1), w = line.size(width);
      line.each(line.size(length), [&](auto t) {
        const auto taps = t + 1 < w ? t + 1 : w; // the last ones: the others would read left of 0
        const auto term = [&](auto j) {
          return line.load(weight, {c, w - taps + j}) * line.load(x, {b, c, t - (taps - 1) + j});
        };
        if (line.algorithm() == bias_last) {
          auto result = line.sum(taps, term) + line.load(bias, {c});
          // A kernel may read the zeros left of 0 too: they make NaN of a weight that is not finite.
          if constexpr (std::remove_cvref_t<decltype(line)>::is_golden)
            line.each(w - taps, [&](auto j) {
              if (!line.load(weight, {c, j}).finite()) result.mark_overflow();
            });
          return line.store(y, {b, c, t}, result);
        }
        const auto one = line.number(1);
        line.store(y, {b, c, t}, line.sum(taps + 1, [&](auto j) {
          return j == 0 ? line.load(bias, {c}) * one : term(j - 1);
        }));
      });
    });
  }
};

} // namespace assay
