// Mean and sum of squared deviations of one row, in the legal algorithms.
#pragma once

namespace assay {

template <class Number> struct Moments {
  Number mean, squares; // squares: the sum of (x - mean)^2
  long long count;
};

// by_updates: as Welford has it, a single value updates the mean first and then meets both means. weighted:
// likewise, but the means of threads meet as their average, weighted by their shares of the count (as in
// PyTorch's norms). That is inexact where they are equal, and the squares do not see it.
enum VarianceAlgorithm { two_passes, welford, welford_by_updates, welford_weighted };

// n >= 1.
template <class Line, class Row>
auto moments(const Line& line, long long n, const Row& row, int algorithm = two_passes) {
  using Number = typename Line::Number;
  using State = Moments<Number>;
  if (algorithm != two_passes) {
    const auto update = [](const State& a, const State& b) {
      const Number delta = b.mean - a.mean, mean = a.mean + delta / (a.count + b.count);
      return State{mean, a.squares + b.squares + delta * (b.mean - mean), a.count + b.count};
    };
    const auto merge = [&](const State& a, const State& b) {
      const long long count = a.count + b.count;
      if (algorithm == welford_by_updates && b.count == 1) return update(a, b);
      const Number delta = b.mean - a.mean;
      if (algorithm == welford_weighted) {
        const Number one = Number(1) / count, share = a.count * one, other_share = b.count * one;
        const Number mean = share * a.mean + other_share * b.mean;
        Number between = delta * delta * a.count * other_share;
        if constexpr (Number::any_order) // a bound of every order, whether b is a thread's or a value to
                                         // update by
          if (b.count == 1) between = maximum(between, delta * (b.mean - mean));
        return State{mean, a.squares + b.squares + between, count};
      }
      const Number share = Number(b.count) / count;
      return State{a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share, count};
    };
    const auto append = [&](const State& a, const State& b) {
      return algorithm == welford_weighted ? update(a, b) : merge(a, b);
    };
    // Threads without elements merge too, with one that has a single value or all of them. Unweighted, it
    // changes no numbers, but infinity, and what is infinite when squared, becomes NaN.
    const State nothing{0, 0, 0};
    const auto unit = [&](auto i) { return merge(State{row(i), 0, 1}, nothing); };
    return merge(line.combine(n, unit, append, merge), nothing);
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
