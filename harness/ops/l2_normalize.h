// y = x / max(norm, eps), norm = sqrt(sum x^2) along each row.
//
// Legal besides: the row's largest magnitude divided out first, so that no
// square overflows (as BLAS's nrm2 and hypot do), with or without a
// multiplication of the norm by it. Then squares round that were exact.
#pragma once

#include "harness/ops/formula.h"

#include <limits>

namespace assay {

struct L2Normalize {
  static constexpr auto name = "l2_normalize";
  static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
  static constexpr Dim dims[] = {rows, cols};
  static constexpr auto x = TensorSpec::input(0, "x", "rows, cols").specials();
  static constexpr auto y = TensorSpec::output(1, "y", "rows, cols");
  static constexpr TensorSpec tensors[] = {x, y};
  static constexpr Param eps{0, "eps", DType::f32, 1e-12};
  static constexpr Param params[] = {eps};
  static constexpr bool reduces = true;
  static constexpr const char* algorithms[] = {"plain", "scaled by the largest",
                                               "scaled by the largest and back"};
  enum { plain, scaled, scaled_back };

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(cols);
      const auto row = [&](auto i) { return line.load(x, {r, i}); };
      if (line.algorithm() != plain && n > 0) return divide_scaled(line, r, n);
      const auto norm = maximum(line.param(eps), sqrt(line.sum(n, [&](auto i) { return row(i) * row(i); })));
      line.each(n, [&](auto i) { line.store(y, {r, i}, row(i) / norm); });
    });
  }

 private:
  template <class Line> static void divide_scaled(Line& line, long long r, long long n) {
    const auto row = [&](auto i) { return line.load(x, {r, i}); };
    const auto largest = line.max(n, [&](auto i) { return abs(row(i)); });
    const bool divides = largest > 0 && largest < std::numeric_limits<double>::infinity();
    const auto scale = divides ? largest : line.number(1);
    const auto part = [&](auto i) { return row(i) / scale; };
    const auto squares = line.sum(n, [&](auto i) { return part(i) * part(i); });
    const auto norm = maximum(line.param(eps) / scale, sqrt(squares));
    auto whole = line.number(0);
    whole = norm * scale;
    line.each(n, [&](auto i) {
      if (line.algorithm() == scaled)
        line.store(y, {r, i}, part(i) / norm);
      else
        line.store(y, {r, i}, row(i) / whole);
    });
  }
};

} // namespace assay
