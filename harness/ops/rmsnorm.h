// y = x * rstd * (1 + weight), and rmsnorm: y = x * rstd * weight; rstd = 1 /
// sqrt(mean(x^2) + eps) along each row.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/norm_gradient.h"

#include <type_traits>

namespace assay {

// offset: whether 1 is added to the weight.
template <bool offset> struct RmsnormFormula {
  static constexpr auto name = offset ? "offset_rmsnorm" : "rmsnorm";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto weight = TensorSpec::input(1, "weight", "cols").specials();
  static constexpr auto y = TensorSpec::output(2, "y", "rows, cols");
  static constexpr auto rstd = TensorSpec::output(3, "rstd", "rows").as(DType::f32).optional();
  static constexpr auto grad_y = TensorSpec::upstream(4, "grad_y", y);
  static constexpr auto grad_x = TensorSpec::gradient(5, "grad_x", x);
  static constexpr auto grad_weight = TensorSpec::gradient(6, "grad_weight", weight);
  static constexpr TensorSpec tensors[] = {x, weight, y, rstd, grad_y, grad_x, grad_weight};
  static constexpr Param eps{0, "eps", DType::f32, 1e-6};
  static constexpr Param params[] = {eps};
  static constexpr bool reduces = true;
  static constexpr bool one_form = true;
  // Which factors of a product meet first: it matters where one underflows or
  // overflows.
  static constexpr const char* algorithms[] = {"rstd_first", "weight_first"};
  static constexpr const char* backward_algorithms[] = {"rstd_first", "rstd_last", "distributed",
                                                        "rstd_cubed", "cols_first"};
  enum { rstd_first, rstd_last, distributed, rstd_cubed, cols_first };

  template <class Line> static typename Line::Number scale_of(const Line& line, long long i) {
    const auto w = line.load(weight, {i});
    return offset ? 1 + w : w;
  }
  template <class Line> static auto rstd_of(const Line& line, long long r) {
    const auto n = line.size(cols);
    const auto squares = line.sum(n, [&](auto i) { return line.load(x, {r, i}) * line.load(x, {r, i}); });
    return rsqrt(squares / n + line.param(eps));
  }

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index();
      const auto scale = rstd_of(line, r);
      line.store(rstd, {r}, scale);
      line.each(line.size(cols), [&](auto i) {
        if (line.algorithm() == rstd_first)
          line.store(y, {r, i}, line.load(x, {r, i}) * scale * scale_of(line, i));
        else
          line.store(y, {r, i}, line.load(x, {r, i}) * (scale * scale_of(line, i)));
      });
    });
  }

  // With z = x * rstd and h = grad_y * (1 + weight):
  //   grad_x = rstd * (h - z * mean(h * z)), or as in norm_gradient.h
  //   grad_weight = the sum over rows of grad_y * z
  template <class Run> static void backward(Run& run) {
    const auto scale = run.scratch(run.size(rows));
    run.lines(rows, [&](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto own_rstd = rstd_of(line, r);
      scale[r] = own_rstd;
      const auto z = [&](auto i) { return line.load(x, {r, i}) * own_rstd; };
      const auto h = [&](auto i) { return line.load(grad_y, {r, i}) * scale_of(line, i); };
      if (line.algorithm() == cols_first) {
        const auto sum_hz = line.sum(n, [&](auto i) { return h(i) * z(i); });
        const auto factor = own_rstd / n;
        line.each(n, [&](auto i) {
          const auto n_h = n * line.load(grad_y, {r, i}) * scale_of(line, i);
          line.store(grad_x, {r, i}, (n_h - z(i) * sum_hz) * factor);
        });
        return;
      }
      if (line.algorithm() != rstd_first) {
        const auto row = [&](auto i) { return line.load(x, {r, i}); };
        const auto mean_hx = line.sum(n, [&](auto i) { return h(i) * row(i); }) / n;
        const auto factor = own_rstd * own_rstd * mean_hx;
        auto cubed = line.number(0);
        cubed = mean_hx * own_rstd * own_rstd * own_rstd;
        line.each(n, [&](auto i) {
          if (line.algorithm() == rstd_cubed)
            line.store(grad_x, {r, i}, own_rstd * h(i) - row(i) * cubed);
          else if (line.algorithm() == distributed)
            line.store(grad_x, {r, i}, own_rstd * h(i) - own_rstd * (row(i) * factor));
          else
            line.store(grad_x, {r, i}, own_rstd * (h(i) - row(i) * factor));
        });
        return;
      }
      const auto mean = line.sum(n, [&](auto i) { return h(i) * z(i); }) / n;
      line.each(n, [&](auto i) {
        auto gradient = line.number(0);
        gradient = own_rstd * (h(i) - z(i) * mean);
        if constexpr (std::remove_cvref_t<decltype(line)>::is_golden) {
          note_overflow(gradient, sum_of_sizes(h(i), z(i) * mean), own_rstd, n);
          note_overflow(gradient, sum_of_sizes(line.load(grad_y, {r, i})), own_rstd, n); // before the weight
        }
        line.store(grad_x, {r, i}, gradient);
      });
    });
    run.lines(cols, [&](auto& line) {
      const auto c = line.index();
      const auto g = [&](auto r) { return line.load(grad_y, {r, c}); };
      const auto v = [&](auto r) { return line.load(x, {r, c}); };
      const auto n = line.size(rows);
      if (line.algorithm() == rstd_first || line.algorithm() == cols_first)
        line.store(grad_weight, {c}, line.sum(n, [&](auto r) { return g(r) * (v(r) * scale[r]); }));
      else
        line.store(grad_weight, {c}, line.sum(n, [&](auto r) { return g(r) * v(r) * scale[r]; }));
    });
  }
};

struct Rmsnorm : RmsnormFormula<false> {};

} // namespace assay
