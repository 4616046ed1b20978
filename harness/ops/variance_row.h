// Mean and sum of squared deviations of one row, in the legal algorithms.
#pragma once

namespace assay {

template <class Number> struct Moments {
  Number mean, squares; // squares: the sum of (x - mean)^2
  long long count;
};

// by_updates: as Welford has it, a single value updates the mean first and then meets both means. weighted:
// means meet as their average, weighted by their shares of the count, which is inexact where they are equal.
enum VarianceAlgorithm { two_passes, welford, welford_by_updates, welford_weighted };

// n >= 1.
template <class Line, class Row>
auto moments(const Line& line, long long n, const Row& row, int algorithm = two_passes) {
  using Number = typename Line::Number;
  using State = Moments<Number>;
  if (algorithm != two_passes) {
    const auto merge = [algorithm](const State& a, const State& b) {
      const long long count = a.count + b.count;
      const Number delta = b.mean - a.mean;
      if (algorithm == welford_by_updates && b.count == 1) {
        const Number mean = a.mean + delta / count;
        return State{mean, a.squares + delta * (b.mean - mean), count};
      }
      const Number share = Number(b.count) / count;
      const Number squares = a.squares + b.squares + delta * delta * a.count * share;
      if (algorithm == welford_weighted)
        return State{Number(a.count) / count * a.mean + share * b.mean, squares, count};
      return State{a.mean + delta * share, squares, count};
    };
    const State all = line.combine(n, [&](auto i) { return State{row(i), 0, 1}; }, merge);
    // Threads without elements merge too. It changes no numbers, but infinity, and what is infinite when
    // squared, becomes NaN.
    return merge(all, State{0, 0, 0});
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
