// y = (x - mean) * rstd * weight + bias, rstd = 1 / sqrt(variance + eps) along
// each row.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/norm_gradient.h"
#include "harness/ops/variance_row.h"

#include <type_traits>

namespace assay {

struct Layernorm {
  static constexpr auto name = "layernorm";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols", 1};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto weight = TensorSpec::input(1, "weight", "cols").specials();
  static constexpr auto bias = TensorSpec::input(2, "bias", "cols").specials();
  static constexpr auto y = TensorSpec::output(3, "y", "rows, cols");
  static constexpr auto mean = TensorSpec::output(4, "mean", "rows").as(DType::f32).optional();
  static constexpr auto rstd = TensorSpec::output(5, "rstd", "rows").as(DType::f32).optional();
  static constexpr auto grad_y = TensorSpec::upstream(6, "grad_y", y);
  static constexpr auto grad_x = TensorSpec::gradient(7, "grad_x", x);
  static constexpr auto grad_weight = TensorSpec::gradient(8, "grad_weight", weight);
  static constexpr auto grad_bias = TensorSpec::gradient(9, "grad_bias", bias);
  static constexpr TensorSpec tensors[] = {x,    weight, bias,   y,           mean,
                                           rstd, grad_y, grad_x, grad_weight, grad_bias};
  static constexpr Param eps{0, "eps", DType::f32, 1e-5};
  static constexpr Param params[] = {eps};
  static constexpr bool reduces = true;
  // How the moments are taken, and which factors of a product meet first: it
  // matters where one underflows or overflows.
  static constexpr const char* algorithms[] = {"two_pass",
                                               "welford",
                                               "welford_by_updates",
                                               "welford_weighted",
                                               "two_pass, weight_first",
                                               "welford, weight_first",
                                               "welford_by_updates, weight_first",
                                               "welford_weighted, weight_first"};
  static constexpr const char* backward_algorithms[] = {"two_pass",
                                                        "welford",
                                                        "welford_by_updates",
                                                        "welford_weighted",
                                                        "two_pass, rstd_last",
                                                        "welford, rstd_last",
                                                        "welford_by_updates, rstd_last",
                                                        "welford_weighted, rstd_last",
                                                        "distributed",
                                                        "rstd_cubed",
                                                        "cols_first"};
  static constexpr int distributed = 8, rstd_cubed = 9, cols_first = 10; // these with two_pass
  template <class Line> static int moments_of(const Line& line) {
    return line.algorithm() < distributed ? line.algorithm() % 4 : two_passes;
  }
  template <class Line> static bool rstd_first(const Line& line) {
    return line.algorithm() < 4 || line.algorithm() == cols_first;
  }

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto row = [&](auto i) { return line.load(x, {r, i}); };
      const auto m = moments(line, n, row, moments_of(line));
      const auto scale = rsqrt(m.squares / n + line.param(eps));
      line.store(mean, {r}, m.mean);
      line.store(rstd, {r}, scale);
      line.each(n, [&](auto i) {
        const auto w = line.load(weight, {i}), b = line.load(bias, {i});
        if (rstd_first(line))
          line.store(y, {r, i}, (row(i) - m.mean) * scale * w + b);
        else
          line.store(y, {r, i}, (row(i) - m.mean) * (scale * w) + b);
      });
    });
  }

  // With z = (x - mean) * rstd and h = grad_y * weight:
  //   grad_x = rstd * (h - mean(h) - z * mean(h * z)), or as in norm_gradient.h
  //   grad_weight, grad_bias: the sums over rows of grad_y * z and of grad_y
  template <class Run> static void backward(Run& run) {
    const auto centre = run.scratch(run.size(rows)), scale = run.scratch(run.size(rows));
    run.lines(rows, [&](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto row = [&](auto i) { return line.load(x, {r, i}); };
      const auto m = moments(line, n, row, moments_of(line));
      centre[r] = m.mean;
      const auto own_rstd = rsqrt(m.squares / n + line.param(eps));
      scale[r] = own_rstd;
      const auto z = [&](auto i) { return (row(i) - centre[r]) * own_rstd; };
      const auto h = [&](auto i) { return line.load(grad_y, {r, i}) * line.load(weight, {i}); };
      if (line.algorithm() == cols_first) {
        const auto sum_h = line.sum(n, h), sum_hz = line.sum(n, [&](auto i) { return h(i) * z(i); });
        const auto factor = own_rstd / n;
        line.each(n, [&](auto i) {
          const auto n_h = n * line.load(grad_y, {r, i}) * line.load(weight, {i});
          line.store(grad_x, {r, i}, (n_h - sum_h - z(i) * sum_hz) * factor);
        });
        return;
      }
      const auto mean_h = line.sum(n, h) / n;
      if (!rstd_first(line)) {
        const auto d = [&](auto i) { return row(i) - centre[r]; };
        const auto mean_hd = line.sum(n, [&](auto i) { return h(i) * d(i); }) / n;
        const auto factor = own_rstd * own_rstd * mean_hd;
        auto cubed = line.number(0);
        cubed = mean_hd * own_rstd * own_rstd * own_rstd;
        line.each(n, [&](auto i) {
          if (line.algorithm() == rstd_cubed)
            line.store(grad_x, {r, i}, own_rstd * h(i) - own_rstd * mean_h - d(i) * cubed);
          else if (line.algorithm() == distributed)
            line.store(grad_x, {r, i}, own_rstd * h(i) - own_rstd * mean_h - own_rstd * (d(i) * factor));
          else
            line.store(grad_x, {r, i}, own_rstd * (h(i) - mean_h - d(i) * factor));
        });
        return;
      }
      const auto mean_hz = line.sum(n, [&](auto i) { return h(i) * z(i); }) / n;
      line.each(n, [&](auto i) {
        auto gradient = line.number(0);
        gradient = own_rstd * (h(i) - mean_h - z(i) * mean_hz);
        if constexpr (std::remove_cvref_t<decltype(line)>::is_golden) {
          note_overflow(gradient, sum_of_sizes(h(i), mean_h, z(i) * mean_hz), own_rstd, n);
          note_overflow(gradient, sum_of_sizes(line.load(grad_y, {r, i})), own_rstd, n); // before the weight
        }
        line.store(grad_x, {r, i}, gradient);
      });
    });
    run.lines(cols, [&](auto& line) {
      const auto c = line.index(), m = line.size(rows);
      const auto g = [&](auto r) { return line.load(grad_y, {r, c}); };
      const auto d = [&](auto r) { return line.load(x, {r, c}) - centre[r]; };
      if (rstd_first(line))
        line.store(grad_weight, {c}, line.sum(m, [&](auto r) { return g(r) * (d(r) * scale[r]); }));
      else
        line.store(grad_weight, {c}, line.sum(m, [&](auto r) { return g(r) * d(r) * scale[r]; }));
      line.store(grad_bias, {c}, line.sum(m, g));
    });
  }
};

} // namespace assay
