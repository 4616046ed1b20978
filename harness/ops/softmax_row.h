// Softmax of one row, in the legal algorithms: shared by the operators that
// hold one.
#pragma once

#include "harness/ops/formula.h"

namespace assay {

inline constexpr Constant log2_of_e{0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56};
inline constexpr Constant ln_2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// exp(x), or 2^x where rows were scaled by log2(e) beforehand: as exp(x ln 2), one rounding of the exponent
// more than exp2 makes.
enum class Base : unsigned char { e, two };
template <class Number> Number power(const Number& x, Base base) {
  return base == Base::e ? exp(x) : exp(Number(x * Number(ln_2)));
}

// The power of from - to for a running maximum that rises from `from` to `to`; nothing but -inf so far: 1,
// whatever it scales.
template <class Number> Number rescale(const Number& from, const Number& to, Base base = Base::e) {
  return from == to && to == Number(-__builtin_huge_val()) ? Number(1) : power(Number(from - to), base);
}

// The maximum. exp(x - m) may be had as exp2(x * log2(e) - m * log2(e)); where the scaled value of any
// element overflows, a maximum on the way may, and what is then not a number proves nothing.
template <class Line, class Row> auto largest_of(const Line& line, long long n, const Row& row) {
  auto largest = line.max(n, row);
  if constexpr (Line::is_golden)
    line.each(n, [&](auto i) {
      const auto x = row(i);
      if (x.finite() && !(__builtin_fabs(x.value().high) * log2_of_e.high < Line::Number::largest))
        largest.mark_overflow();
    });
  return largest;
}

// The largest of some elements, and the sum of the powers of element - largest.
template <class Number> struct SoftmaxState {
  Number largest, total;
};

enum SoftmaxAlgorithm { two_pass, online };

// The state of row(0), ..., row(n - 1) by rescaling, n >= 1.
template <class Line, class Row>
auto online_state(const Line& line, long long n, const Row& row, Base base = Base::e) {
  using Number = typename Line::Number;
  using State = SoftmaxState<Number>;
  return line.combine(
      n, [&](auto i) { return State{row(i), 1}; },
      [base](const State& a, const State& b) {
        const Number largest = maximum(a.largest, b.largest);
        return State{largest, a.total * rescale(a.largest, largest, base) +
                                  b.total * rescale(b.largest, largest, base)};
      });
}

// The state in either algorithm, n >= 1.
template <class Line, class Row>
auto softmax_state(const Line& line, long long n, const Row& row, int algorithm = two_pass) {
  using Number = typename Line::Number;
  if (algorithm == online) return online_state(line, n, row);
  const Number largest = largest_of(line, n, row);
  return SoftmaxState<Number>{largest, line.sum(n, [&](auto i) { return exp(row(i) - largest); })};
}

// p[i] = exp(row(i) - max) / sum, in the line's scratch.
template <class Line, class Row>
auto softmax_row(Line& line, long long n, const Row& row, int algorithm = two_pass) {
  using Number = typename Line::Number;
  Number* p = line.scratch(n);
  if (n == 0) return p;
  if (algorithm == online) {
    const auto state = online_state(line, n, row);
    line.each(n, [&](auto i) { p[i] = exp(row(i) - state.largest) / state.total; });
    return p;
  }
  const Number largest = largest_of(line, n, row);
  line.each(n, [&](auto i) { p[i] = exp(row(i) - largest); });
  const Number total = line.sum(n, [&](auto i) { return p[i]; });
  line.each(n, [&](auto i) { p[i] = p[i] / total; });
  return p;
}

// p[i] = exp(row(i) - (max + log(sum))), in the line's scratch: of backward passes whose forward pass kept
// that logarithm alone (apex, FlashAttention's and Liger's cross entropies). Its rounding is one of max.
template <class Line, class Row> auto softmax_by_logsumexp(Line& line, long long n, const Row& row) {
  using Number = typename Line::Number;
  Number* p = line.scratch(n);
  const auto state = softmax_state(line, n, row);
  const Number logsumexp = state.largest + log(state.total);
  line.each(n, [&](auto i) { p[i] = exp(row(i) - logsumexp); });
  return p;
}

} // namespace assay
