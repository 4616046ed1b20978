// Mean and sum of squared deviations of one row, in the legal algorithms.
#pragma once

namespace assay {

template <class Number> struct Moments {
  Number mean, squares; // squares: the sum of (x - mean)^2
  long long count;
};

enum VarianceAlgorithm { two_passes, welford };

// n >= 1.
template <class Line, class Row>
auto moments(const Line& line, long long n, const Row& row, int algorithm = two_passes) {
  using Number = typename Line::Number;
  using State = Moments<Number>;
  if (algorithm == welford) {
    return line.combine(
        n, [&](auto i) { return State{row(i), 0, 1}; },
        [](const State& a, const State& b) {
          const long long count = a.count + b.count;
          const Number delta = b.mean - a.mean, share = Number(b.count) / count;
          return State{a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share,
                       count};
        });
  }
  const Number mean = line.sum(n, row) / n;
  if (line.one_pass_variance()) { // a suspect (method: section 10): no legal algorithm
    const Number squares = line.sum(n, [&](auto i) { return row(i) * row(i); });
    return State{mean, squares - mean * mean * n, n};
  }
  const auto square = [&](auto i) {
    const Number deviation = row(i) - mean;
    return deviation * deviation;
  };
  return State{mean, line.sum(n, square), n};
}

} // namespace assay
