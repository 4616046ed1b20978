// The vocabulary of formulas. A formula is written once against Run and Line;
// the number type N makes it golden, reference, a legal order, a noise draw or
// a bound (golden.h, plain.h, perturbed.h, rigorous.h).
//
//   Run   the whole operator: run.lines(rows, [&](auto& line) { ... }) runs the block once for each index, in
//         no promised order; several stages may follow each other and share run.scratch(n).
//
//   Line  one independent slice.
//     is_golden          this instrument stands for the truth: use a form that does not cancel
//     index(k)           which slice: the k-th of the dims given to lines()
//     size(dim)  param(p)  algorithm()  number(literal)
//     load(x, {r, c})    the element as a Number; load_index(t, {r}): an integer element
//     store(y, {r, c}, v)      rounds to the tensor's type; store_index for integers
//     store_nearest(q, {r, c}, v, slack)
//                        v to the nearest integer, ties to even; where v lies within slack * |v| of a tie,
//                        the integer across it is right too
//     round(v)           to the case's storage type T: where the eager formula rounds
//     each(n, f)         f(i) for 0 <= i < n; each(n, m, f): f(i, j)
//     sum(n, f)          of f(i); of nothing 0
//     max(n, f)          of f(i), NaN wins; of nothing -inf
//     first_max(n, f)    the index of the first largest; the first NaN is the largest
//     combine(n, unit, merge)  merge(a, b) of partial results unit(i), n >= 1, in any legal order; of
//     combine(n, unit, append, merge), append(a, unit(i)) where one item is added to a partial result
//     scan(n, f, out)    out(i, f(0) + ... + f(i))
//     part(n)            of n items dealt to parts that are evaluated apart, then merged: how many a part has
//     scratch(n)         n Numbers for this line, s[i]
//   An f of one i touches nothing that the f of another does, but what it stores, nor does a line what
//   another does: threads share them. Of run.line each() is shared.
//
// Numbers have + - * /, comparisons (of values), abs, maximum, exp, expm1, log,
// log1p, sqrt, rsqrt, tanh, erf, erfc, and begin from literals and Constants. A
// product that meets + or - (or is a term of a sum) may contract to an fma.
// Formulas use no std:: containers, no virtual functions, no recursion: NVRTC
// compiles them too.
#pragma once

#include "harness/base/check.h"
#include "harness/base/parallel.h"
#include "harness/ops/formula.h"
#include "harness/ops/number_context.h"
#include "harness/ops/op.h"
#include "harness/ops/operators.h"
#include "harness/ops/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace assay {

// A tensor while an instrument runs: values to load, or slots to store into.
struct TensorView {
  const char* name = "";
  const double* values = nullptr;
  Slot slot;
  std::array<std::int64_t, 4> shape{};
  int rank = 0;
  std::int64_t count = 0;
  std::vector<std::int64_t>* line_starts = nullptr;
  std::int64_t last_line = -1;

  [[gnu::always_inline]] std::int64_t flat(const At& at) const {
    std::int64_t offset = at.i[0];
    if (rank > 1) offset = offset * shape[1] + at.i[1];
    if (rank > 2) offset = offset * shape[2] + at.i[2];
    if (rank > 3) offset = offset * shape[3] + at.i[3];
    if (static_cast<std::uint64_t>(offset) >= static_cast<std::uint64_t>(count)) [[unlikely]]
      outside(offset);
    return offset;
  }

  [[gnu::noinline]] void outside(std::int64_t offset) const {
    ASSAY_CHECK(false, "the formula leaves tensor {}: element {} of {}", name, offset, count);
  }
};

// Views of one thread's own, for lines whose starts it notes.
class OwnViews {
 public:
  explicit OwnViews(std::span<const TensorView> tensors);
  OwnViews(const OwnViews&) = delete;
  OwnViews& operator=(const OwnViews&) = delete;
  std::span<TensorView> views() { return views_; }
  void add_starts(std::span<const TensorView> tensors) const; // to theirs

 private:
  std::vector<TensorView> views_;
  std::vector<std::vector<std::int64_t>> starts_;
};

template <class N> class Line;
template <class N> class WholeLine;

template <class N> class Run {
 public:
  std::span<TensorView> tensors;
  std::span<const std::int64_t> dims;
  std::span<const double> params;
  Instrument instrument;
  const Format* storage = nullptr;
  double operations = 0; // of the whole run, roughly; 0: all of it stays on one thread

  std::int64_t size(const Dim& dim) const { return dims[static_cast<std::size_t>(dim.index)]; }
  int algorithm() const { return instrument.algorithm; }
  N param(const Param& param) const { return N::load(params[static_cast<std::size_t>(param.index)]); }

  // n Numbers, at first 0, that live until the run ends.
  N* scratch(std::int64_t n) {
    kept_.push_back(std::make_unique<N[]>(static_cast<std::size_t>(n)));
    return kept_.back().get();
  }

  template <class Body> void lines(std::initializer_list<Dim> over, const Body& body) {
    ASSAY_CHECK(over.size() <= 4, "lines over {} dims", over.size());
    Extent extent{1, 1, 1, 1};
    std::size_t k = 0;
    for (const Dim& dim : over) extent[k++] = size(dim);
    std::size_t count = 1;
    for (const std::int64_t n : extent) count *= static_cast<std::size_t>(std::max<std::int64_t>(n, 0));
    const std::size_t pieces = std::min(pieces_of(operations, least_operations), count);
    if (pieces <= 1) {
      run_lines(tensors, extent, 0, count, body);
    } else {
      std::vector<std::unique_ptr<OwnViews>> own(pieces);
      const NumberContext context = number_context;
      in_pieces(pieces, [&](std::size_t p) {
        number_context = context;
        own[p] = std::make_unique<OwnViews>(tensors);
        run_lines(own[p]->views(), extent, piece_begin(count, pieces, p), piece_begin(count, pieces, p + 1),
                  body);
      });
      for (const auto& views : own) views->add_starts(tensors);
    }
    next_line_ += static_cast<std::int64_t>(count);
  }
  template <class Body> void lines(const Dim& over, const Body& body) { lines({over}, body); }
  // The whole tensor is one line: elementwise operators.
  template <class Body> void line(const Body& body) {
    WholeLine<N> line(*this, next_line_++);
    body(line);
  }

 private:
  friend class WholeLine<N>;
  using Extent = std::array<std::int64_t, 4>;
  static constexpr double least_operations = 1 << 13; // that are worth a thread

  // The lines begin, begin + 1, ... of those over `extent`.
  template <class Body>
  void run_lines(std::span<TensorView> views, const Extent& extent, std::size_t begin, std::size_t end,
                 const Body& body) {
    if (begin == end) return;
    Line<N> line(*this, views, next_line_ + static_cast<std::int64_t>(begin));
    auto rest = static_cast<std::int64_t>(begin);
    for (std::size_t k = 4; k-- > 0; rest /= extent[k]) line.index_[k] = rest % extent[k];
    for (std::size_t done = begin; done < end; ++done) {
      line.scratches_used_ = 0;
      body(line);
      ++line.number_;
      for (std::size_t k = 4; k-- > 0;) {
        if (++line.index_[k] < extent[k]) break;
        line.index_[k] = 0;
      }
    }
  }

  // Whether every tensor that the run stores into has an element in the line.
  bool has_stored(std::int64_t number) const {
    return std::ranges::all_of(tensors, [&](const TensorView& view) {
      return view.line_starts == nullptr || view.last_line == number;
    });
  }

  std::vector<std::unique_ptr<N[]>> kept_;
  std::int64_t next_line_ = 0;
};

template <class N> class Line {
 public:
  using Number = N;
  static constexpr bool is_golden = requires { requires N::is_golden; };

  std::int64_t index(int k = 0) const { return index_[static_cast<std::size_t>(k)]; }
  std::int64_t size(const Dim& dim) const { return run_.size(dim); }
  int algorithm() const { return run_.algorithm(); }
  bool one_pass_variance() const { return run_.instrument.one_pass_variance; }
  N param(const Param& param) const { return run_.param(param); }

  N load(const TensorSpec& tensor, const At& at) const { return N::load(value(tensor, at)); }
  std::int64_t load_index(const TensorSpec& tensor, const At& at) const {
    return static_cast<std::int64_t>(value(tensor, at));
  }
  void store(const TensorSpec& tensor, const At& at, const N& v) {
    TensorView& view = view_of(tensor);
    const std::int64_t i = view.flat(at);
    if (view.last_line != number_) {
      view.last_line = number_;
      view.line_starts->push_back(i);
    }
    v.store(view.slot, i);
  }
  void store_index(const TensorSpec& tensor, const At& at, std::int64_t v) {
    store(tensor, at, N(v));
    const TensorView& view = view_of(tensor);
    if (view.slot.alternative) view.slot.alternative[view.flat(at)] = static_cast<double>(v);
  }
  void store_nearest(const TensorSpec& tensor, const At& at, const N& v, double slack) {
    const DoubleDouble x = v.value();
    const double nearest = nearest_even(x);
    store_index(tensor, at, static_cast<std::int64_t>(nearest));
    const TensorView& view = view_of(tensor);
    if (!view.slot.alternative) return;
    const double beside = x < DoubleDouble(nearest) ? nearest - 1 : nearest + 1;
    const double to_tie = to_double(abs(x - (nearest + beside) / 2));
    if (to_tie < slack * std::fabs(x.high)) view.slot.alternative[view.flat(at)] = beside;
  }
  N number(double exact) const { return exact; }
  N round(const N& v) const { return v.rounded(*run_.storage); }

  template <class F> void each(std::int64_t n, const F& f) const {
    for (std::int64_t i = 0; i < n; ++i) [[clang::always_inline]]
      f(i);
  }

  // f(i, j) for 0 <= i < n, 0 <= j < m.
  template <class F> void each(std::int64_t n, std::int64_t m, const F& f) const {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < m; ++j) [[clang::always_inline]]
        f(i, j);
  }

  template <class F> N sum(std::int64_t n, const F& f) const {
    using Sum = typename N::Sum;
    if (n <= 0) return N(0);
    if constexpr (N::any_order) {
      Sum total;
      for (std::int64_t i = 0; i < n; ++i) [[clang::always_inline]]
        total.add(f(i));
      return total.value();
    } else {
      const auto first = [&](std::int64_t i) {
        Sum partial;
        partial.add(f(i));
        return partial;
      };
      const auto add = [&](Sum& partial, std::int64_t i) { partial.add(f(i)); };
      const auto merge = [](Sum& left, const Sum& right) { left.merge(right); };
      return reduce(run_.instrument.order, run_.instrument.width, n, first, add, merge).value();
    }
  }

  template <class F> N max(std::int64_t n, const F& f) const {
    if (run_.instrument.without_maximum) return N(0);
    N largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < n; ++i) [[clang::always_inline]]
      N::raise(largest, f(i));
    return largest;
  }

  template <class F> std::int64_t first_max(std::int64_t n, const F& f) const {
    std::int64_t best = 0;
    N largest = f(0);
    for (std::int64_t i = 1; i < n && largest == largest; ++i)
      if (const N v = f(i); v > largest || !(v == v)) best = i, largest = v;
    return best;
  }

  template <class Unit, class Merge>
  auto combine(std::int64_t n, const Unit& unit, const Merge& merge) const {
    return combine(n, unit, merge, merge);
  }

  template <class Unit, class Append, class Merge>
  auto combine(std::int64_t n, const Unit& unit, const Append& append, const Merge& merge) const {
    using State = decltype(unit(n));
    const auto add = [&](State& partial, std::int64_t i) { partial = append(partial, unit(i)); };
    const auto join = [&](State& left, const State& right) { left = merge(left, right); };
    if constexpr (N::any_order) {
      // Another order meets an exact point like exp(0) where this one does not,
      // and the other way about.
      const bool before = std::exchange(number_context.exact_points, false);
      const auto join_one = [&](State& partial, std::int64_t i) { join(partial, unit(i)); };
      const State whole = reduce_run(0, n, 1, unit, join_one);
      number_context.exact_points = before;
      return whole;
    } else {
      return reduce(run_.instrument.order, run_.instrument.width, n, unit, add, join);
    }
  }

  // Sequential; in the other orders each block of `width` (pairwise: each half)
  // is scanned alone, then the total of what stands before it is added to all
  // of its prefixes. Strided: within a block by doubling, as its threads do.
  template <class F, class Out> void scan(std::int64_t n, const F& f, const Out& out) {
    if (N::any_order || run_.instrument.order == Order::sequential) {
      typename N::Sum running;
      for (std::int64_t i = 0; i < n; ++i) running.add(f(i)), out(i, running.value());
      return;
    }
    N* prefix = scratch(n);
    for (std::int64_t i = 0; i < n; ++i) prefix[i] = f(i);
    if (run_.instrument.order == Order::pairwise) {
      scan_halves(prefix, 0, n);
    } else {
      const std::int64_t width = std::max<std::int64_t>(run_.instrument.width, 1);
      for (std::int64_t begin = 0; begin < n; begin += width) {
        const std::int64_t end = std::min(begin + width, n);
        if (run_.instrument.order == Order::strided)
          scan_by_doubling(prefix, begin, end);
        else
          for (std::int64_t i = begin + 1; i < end; ++i) prefix[i] = prefix[i - 1] + prefix[i];
        if (begin > 0) raise(prefix, begin, end, prefix[begin - 1]);
      }
    }
    for (std::int64_t i = 0; i < n; ++i) out(i, prefix[i]);
  }

  // Blocked: a block's width. Otherwise n over the number of parts: a pair's, as many as there are threads,
  // or as `choice` has it. In the plain order, and where one bound serves every order: each item alone.
  std::int64_t part(std::int64_t n) const {
    const Order order = run_.instrument.order;
    const std::int64_t width = std::max<std::int64_t>(run_.instrument.width, 1);
    if (N::any_order || (order == Order::sequential && width == 1)) return 1;
    if (order == Order::blocked) return width;
    const std::int64_t parts = order == Order::pairwise ? 2 : width;
    return std::max<std::int64_t>((n + parts - 1) / parts, 1);
  }

  N* scratch(std::int64_t n) {
    if (scratches_used_ == scratches_.size()) scratches_.emplace_back();
    auto& buffer = scratches_[scratches_used_++];
    if (buffer.size() < static_cast<std::size_t>(n)) buffer.resize(static_cast<std::size_t>(n));
    return buffer.data();
  }

 private:
  friend class Run<N>;
  friend class WholeLine<N>;
  Line(Run<N>& run, std::span<TensorView> tensors, std::int64_t number)
      : run_(run), tensors_(tensors), number_(number) {}

  TensorView& view_of(const TensorSpec& tensor) const {
    return tensors_[static_cast<std::size_t>(tensor.index)];
  }
  double value(const TensorSpec& tensor, const At& at) const {
    const TensorView& view = view_of(tensor);
    return view.values[view.flat(at)];
  }
  static double nearest_even(DoubleDouble x) {
    const double nearest = std::nearbyint(x.high);
    const double left = (x.high - nearest) + x.low; // exact where it matters: |x| is small
    if (left > 0.5 || (left == 0.5 && std::fmod(nearest, 2) != 0)) return nearest + 1;
    if (left < -0.5 || (left == -0.5 && std::fmod(nearest, 2) != 0)) return nearest - 1;
    return nearest;
  }
  static void raise(N* prefix, std::int64_t begin, std::int64_t end, const N before) {
    for (std::int64_t i = begin; i < end; ++i) prefix[i] = before + prefix[i];
  }
  static void scan_by_doubling(N* prefix, std::int64_t begin, std::int64_t end) {
    for (std::int64_t distance = 1; distance < end - begin; distance *= 2)
      for (std::int64_t i = end - 1; i >= begin + distance; --i) prefix[i] = prefix[i - distance] + prefix[i];
  }
  static void scan_halves(N* prefix, std::int64_t begin, std::int64_t end) {
    if (end - begin <= 1) return;
    const std::int64_t middle = begin + (end - begin + 1) / 2;
    scan_halves(prefix, begin, middle);
    scan_halves(prefix, middle, end);
    raise(prefix, middle, end, prefix[middle - 1]);
  }

  Run<N>& run_;
  std::span<TensorView> tensors_;
  std::array<std::int64_t, 4> index_{};
  std::int64_t number_ = 0;
  std::vector<std::vector<N>> scratches_;
  std::size_t scratches_used_ = 0;
};

// A whole tensor, whose elements are shared among threads once the line's start is noted.
template <class N> class WholeLine : public Line<N> {
 public:
  template <class F> void each(std::int64_t n, const F& f) const {
    share(n, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) [[clang::always_inline]]
        f(i);
    });
  }
  template <class F> void each(std::int64_t n, std::int64_t m, const F& f) const {
    share(n * m, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end;) {
        const std::int64_t i = at / m, first = at % m, last = std::min(m, first + end - at);
        for (std::int64_t j = first; j < last; ++j) [[clang::always_inline]]
          f(i, j);
        at += last - first;
      }
    });
  }

 private:
  friend class Run<N>;
  WholeLine(Run<N>& run, std::int64_t number) : Line<N>(run, run.tensors, number) {}

  template <class Range> void share(std::int64_t count, const Range& range) const {
    const Run<N>& whole = this->run_;
    if (pieces_of(whole.operations, Run<N>::least_operations) == 1) return range(0, count);
    std::int64_t done = 0;
    for (; done < count && !whole.has_stored(this->number_); ++done) range(done, done + 1);
    const NumberContext context = number_context;
    in_ranges(static_cast<std::size_t>(count - done), Run<N>::least_operations,
              [&](std::size_t begin, std::size_t end) {
                number_context = context;
                range(done + static_cast<std::int64_t>(begin), done + static_cast<std::int64_t>(end));
              });
  }
};

} // namespace assay
