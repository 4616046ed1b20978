// Run and Line of ops/line.h for a block of threads that judges one case. The formula runs twice: the
// reference's number type stores what it makes of each tested output, then the golden's meets that and the
// target at every store, so that no golden value is ever kept; or once, with both beside each other.
#pragma once

#include "harness/screen/device/elements.h"
#include "harness/screen/device/findings.h"
#include "harness/screen/device/job.h"
#include "harness/screen/device/kept.h"
#include "harness/screen/device/team.h"

namespace assay::screen {

template <class J, class N> class Line;

template <class J, class N> class Run {
 public:
  static constexpr bool is_golden = !std::is_same_v<N, typename J::Reference>;
  // A golden that is not careful ends where it would have to be.
  static constexpr bool may_give_up = std::is_same_v<N, typename J::template Golden<false>>;

  static_assert(sizeof(N) <= largest_number);

  const CasePlan& plan;
  const View* views;
  Exchange& exchange;
  Scratch scratch_left;
  Findings<J>& findings;
  Team team{};         // at work on the line
  bool inside = false; // in a loop that its threads share
  bool given_up = false;
  double golden_unit = unit_of(plan); // of a Number's m

  __forceinline__ std::int32_t size(const Dim& dim) const {
    return static_cast<std::int32_t>(plan.dims[dim.index]);
  }
  static constexpr int algorithm() { return 0; }
  __forceinline__ N param(const Param& param) const { return N::load(plan.params[param.index]); }

  KeptNumbers<J, N> scratch(std::int64_t n) {
    N* numbers = reinterpret_cast<N*>(scratch_left.take_low(n * sizeof(N)));
    if (!scratch_left.exhausted)
      for (std::int64_t i = threadIdx.x; i < n; i += block_threads()) numbers[i] = N(0);
    __syncthreads();
    return {*this, numbers};
  }

  template <int count, class Body> __forceinline__ void lines(const Dim (&over)[count], const Body& body) {
    std::int32_t extent[4] = {1, 1, 1, 1};
    for (int axis = 0; axis < count; ++axis) extent[axis] = size(over[axis]);
    run_lines(extent, plan.inner_dims >> over[count - 1].index & 1, body);
  }
  template <class Body> __forceinline__ void lines(const Dim& over, const Body& body) {
    const std::int32_t extent[4] = {size(over), 1, 1, 1};
    run_lines(extent, plan.inner_dims >> over.index & 1, body);
  }
  template <class Body> __forceinline__ void line(const Body& body) {
    const std::int32_t extent[4] = {1, 1, 1, 1};
    run_lines(extent, false, body);
  }

 private:
  friend class Line<J, N>;

  static __forceinline__ double unit_of(const CasePlan& plan) {
    if constexpr (is_golden) return plan.golden_unit * (1 / N::scale);
    return 0;
  }

  // Threads a line. Short lines and neighbouring columns: one, where there are enough of them.
  __forceinline__ int lanes_for(std::int32_t count, bool side_by_side) const {
    std::int32_t most = 1;
#pragma unroll
    for (int k = 0; k < J::tensor_count; ++k) most = views[k].count > most ? views[k].count : most;
    const std::int32_t length = most / count;
    if (count >= block_threads() / 4 && line_a_thread(plan.line_scratch) && (side_by_side || length <= 8))
      return 1;
    if (count >= block_threads() / quarter_threads && plan.line_scratch == 0) return quarter_threads;
    return count >= block_threads() / warp_threads / 2 || length <= warp_threads ? warp_threads
                                                                                 : block_threads();
  }

  template <class Body>
  __forceinline__ void run_lines(const std::int32_t (&extent)[4], bool side_by_side, const Body& body) {
    const std::int64_t all = std::int64_t{extent[0]} * extent[1] * extent[2] * extent[3];
    if (all == 0 || all > 0x7fffffff || given_up) return;
    const std::int32_t count = static_cast<std::int32_t>(all);
    team = Team::of(lanes_for(count, side_by_side));
    Scratch left = scratch_left;
    if constexpr (is_golden) {
      scratch_left.take_high(static_cast<std::int64_t>(sizeof(LineRecord)) * plan.output_count * count);
      left = scratch_left;
    }
    const std::int64_t own = Scratch::rounded_up(static_cast<std::int64_t>(plan.line_scratch) * sizeof(N));
    unsigned char* lines_scratch = left.take_low(own * team.teams);
    if (left.exhausted) scratch_left.exhausted = true;
    if (scratch_left.exhausted) return;

    for (std::int32_t number = team.number; number < count; number += team.teams) {
      Line<J, N> line(*this, lines_scratch + own * team.number);
      std::int32_t rest = number;
      line.index_[3] = rest % extent[3], rest /= extent[3];
      line.index_[2] = rest % extent[2], rest /= extent[2];
      line.index_[1] = rest % extent[1], rest /= extent[1];
      line.index_[0] = rest;
      body(line);
      team.sync();
      if constexpr (is_golden) line.finish(findings.lines + number);
      if constexpr (may_give_up)
        if (team.any(findings.reasons != 0)) break;
    }
    findings.lines += count;
    if constexpr (may_give_up)
      given_up = __syncthreads_or(findings.reasons != 0) != 0;
    else
      __syncthreads();
  }
};

template <class J, class N> class Line {
 public:
  using Number = N;
  static constexpr bool is_golden = Run<J, N>::is_golden;

  __forceinline__ std::int32_t index(int k = 0) const { return index_[k]; }
  __forceinline__ std::int32_t size(const Dim& dim) const { return run_.size(dim); }
  static constexpr int algorithm() { return 0; }
  static constexpr bool one_pass_variance() { return false; }
  __forceinline__ N param(const Param& param) const { return run_.param(param); }
  __forceinline__ N number(double exact) const { return exact; }
  __forceinline__ N round(const N& v) const {
    constexpr Format storage = format_constant<J::type>();
    return v.rounded(storage);
  }

  __forceinline__ N load(const TensorSpec& tensor, const At& at) const { return N::load(value(tensor, at)); }
  __forceinline__ std::int32_t load_index(const TensorSpec& tensor, const At& at) const {
    return static_cast<std::int32_t>(value(tensor, at));
  }

  __forceinline__ void store(const TensorSpec& tensor, const At& at, const N& v) {
    const View& view = run_.views[tensor.index];
    if constexpr (!is_golden) evaluate_here(value_of(v));
    if (!view.tested || !(run_.inside || run_.team.lane == 0)) return;
    const std::int32_t place = dense_place(view, at);
    J::with_type(tensor, [&]<DType type>() {
      if constexpr (!is_floating<type>)
        return;
      else if constexpr (!is_golden)
        put_reference<type>(view.reference + std::int64_t{place} * reference_bytes<type>, value_of(v));
      else
        join<type>(tensor.index, view, place, at, v);
    });
  }
  __forceinline__ void store_index(const TensorSpec& tensor, const At& at, std::int64_t v) {
    store_integer(tensor, at, static_cast<double>(v), static_cast<double>(v));
  }
  __forceinline__ void store_nearest(const TensorSpec& tensor, const At& at, const N& v, double slack) {
    if constexpr (is_golden) {
      const double x = high_of(v.v), nearest = std::nearbyint(x);
      const double beside = x < nearest ? nearest - 1 : nearest + 1;
      const double to_tie = std::fabs(x - (nearest + beside) / 2);
      const double bound = run_.golden_unit * v.m;
      const bool both = to_tie + bound < slack * std::fabs(x);
      if (!both && bound != 0 && to_tie <= bound) run_.findings.reasons |= gate_invalid;
      store_integer(tensor, at, nearest, both ? beside : nearest);
    } else {
      store_integer(tensor, at, 0, 0);
    }
  }

  template <class F> __forceinline__ void each(std::int32_t n, const F& f) const {
    const bool outer = !run_.inside;
    const std::int32_t first = outer ? run_.team.lane : 0, step = outer ? run_.team.lanes : 1;
    run_.inside = true;
    if constexpr (is_golden) {
      for (std::int32_t i = first; i < n; i += step) f(i);
    } else {
      side_by_side(first, n, step, f);
    }
    run_.inside = !outer;
    if (outer) run_.team.sync();
  }
  template <class F> __forceinline__ void each(std::int32_t n, std::int32_t m, const F& f) const {
    each(n * m, [&](std::int32_t i) { f(i / m, i % m); });
  }

  template <class F> __forceinline__ N sum(std::int32_t n, const F& f) const {
    if (n <= 0) return N(0);
    const bool outer = !run_.inside;
    const std::int32_t first = outer ? run_.team.lane : 0, step = outer ? run_.team.lanes : 1;
    run_.inside = true;
    const N total = sum(n, first, step, f);
    run_.inside = !outer;
    return total;
  }

  template <class F> __forceinline__ N max(std::int32_t n, const F& f) const {
    const bool outer = !run_.inside;
    const std::int32_t first = outer ? run_.team.lane : 0, step = outer ? run_.team.lanes : 1;
    N largest = -infinite;
    run_.inside = true;
    for (std::int32_t i = first; i < n; i += step) N::raise(largest, f(i));
    run_.inside = !outer;
    if (step > 1) {
      const auto merge = [](N& a, const N& b) { N::raise(a, b); };
      largest = run_.team.merged(largest, merge, run_.exchange);
    }
    return largest;
  }

  template <class F> __forceinline__ std::int32_t first_max(std::int32_t n, const F& f) const {
    static_assert(!J::one_form);
    struct Best {
      N v;
      std::int32_t index = 0, unused = 0;
    };
    const auto join = [](Best& a, const Best& b) {
      const bool a_is_nan = !(a.v == a.v), b_is_nan = !(b.v == b.v);
      const bool alike = (a_is_nan && b_is_nan) || a.v == b.v;
      if (alike ? b.index < a.index : !a_is_nan && (b_is_nan || b.v > a.v)) a = b;
    };
    const bool outer = !run_.inside;
    const std::int32_t first = outer ? run_.team.lane : 0, step = outer ? run_.team.lanes : 1;
    run_.inside = true;
    Best best;
    best.v = f(0);
    for (std::int32_t i = first; i < n; i += step) {
      Best next;
      next.v = f(i), next.index = i;
      join(best, next);
    }
    run_.inside = !outer;
    if (step > 1) best = run_.team.merged(best, join, run_.exchange);
    return best.index;
  }

  // Every lane alone: only algorithms beside the plain one merge.
  template <class Unit, class Append, class... Merge>
  __forceinline__ auto combine(std::int32_t n, const Unit& unit, const Append& append,
                               const Merge&...) const {
    static_assert(!J::one_form);
    auto whole = unit(0);
    for (std::int32_t i = 1; i < n; ++i) whole = append(whole, unit(i));
    return whole;
  }

  static constexpr std::int64_t part(std::int64_t n) { return n; } // likewise

  template <class F, class Out> __forceinline__ void scan(std::int32_t n, const F& f, const Out& out) {
    static_assert(!J::one_form);
    const bool outer = !run_.inside;
    const std::int32_t lane = outer ? run_.team.lane : 0, lanes = outer ? run_.team.lanes : 1;
    N* terms = reinterpret_cast<N*>(run_.exchange.terms) + run_.team.number * run_.team.lanes;
    typename N::Sum running;
    run_.inside = true;
    for (std::int32_t begin = 0; begin < n; begin += lanes) {
      const std::int32_t i = begin + lane;
      if (i < n) terms[lane] = f(i);
      if (lanes > 1) run_.team.sync();
      N own;
      const std::int32_t count = n - begin < lanes ? n - begin : lanes;
      for (std::int32_t k = 0; k < count; ++k) {
        running.add(terms[k]);
        if (k == lane) own = running.value();
      }
      if (lanes > 1) run_.team.sync();
      if (i < n) out(i, own);
    }
    run_.inside = !outer;
    if (outer) run_.team.sync();
  }

  N* scratch(std::int64_t n) {
    asm volatile("// assay: line scratch"); // by which the host knows (source.h)
    N* numbers = reinterpret_cast<N*>(scratch_);
    taken_ += n;
    if (taken_ > run_.plan.line_scratch) __trap(); // no formula of ours; beyond lies the neighbour's
    scratch_ += n * sizeof(N);
    return numbers;
  }

  // The line is done: its errors go to its record and to the outputs'.
  __forceinline__ void finish(std::int32_t number) {
    LineRecord* records = reinterpret_cast<LineRecord*>(run_.findings.records_end) -
                          (std::int64_t{number} + 1) * run_.plan.output_count;
#pragma unroll
    for (int k = 0; k < J::tensor_count; ++k) {
      if (J::Formula::tensors[k].role != J::written || !run_.views[k].tested) continue;
      const auto join = [](LineErrors& a, const LineErrors& b) { a.join(b); };
      LineErrors& errors = errors_[k];
      errors = run_.team.merged(errors, join, run_.exchange);
      if (run_.team.lane != 0) continue;
      Maxima& maxima = errors.maxima;
      const bool apart = errors.count > 0 && errors.last - errors.first + 1 != errors.count;
      if (apart && !J::is_exact(J::Formula::tensors[k])) run_.findings.reasons |= line_unclear;
      if (!N::is_careful && maxima.largest() >= infinite_word) run_.findings.reasons |= misplaced;
      records[run_.plan.tensors[k].output] = {maxima.target | maxima.differs << 31, maxima.reference,
                                              maxima.rounding, maxima.magnitude};
      OutputErrors& output = run_.findings.outputs[k];
      output.maxima.join(maxima);
      output.count += errors.count;
    }
  }

 private:
  friend class Run<J, N>;
  // f(i) for i = first, first + step, ... below n, four in a row, so that what they load is under way at
  // once.
  template <class F>
  static __forceinline__ void side_by_side(std::int32_t first, std::int32_t n, std::int32_t step,
                                           const F& f) {
    constexpr int at_once = 4;
    std::int32_t i = first;
    for (; i + (at_once - 1) * step < n; i += at_once * step)
#pragma unroll
      for (int k = 0; k < at_once; ++k) f(i + k * step);
    for (; i < n; i += step) f(i);
  }
  __forceinline__ Line(Run<J, N>& run, unsigned char* scratch) : run_(run), scratch_(scratch) {}

  static __forceinline__ std::int32_t dense_place(const View& view, const At& at) {
    std::int32_t place = static_cast<std::int32_t>(at.i[0]);
    if (at.rank > 1) place = place * view.shape[1] + static_cast<std::int32_t>(at.i[1]);
    if (at.rank > 2) place = place * view.shape[2] + static_cast<std::int32_t>(at.i[2]);
    if (at.rank > 3) place = place * view.shape[3] + static_cast<std::int32_t>(at.i[3]);
    return place;
  }
  static __forceinline__ std::int32_t element_place(const View& view, const At& at) {
    std::int32_t place = static_cast<std::int32_t>(at.i[0]) * view.strides[0];
    if (at.rank > 1) place += static_cast<std::int32_t>(at.i[1]) * view.strides[1];
    if (at.rank > 2) place += static_cast<std::int32_t>(at.i[2]) * view.strides[2];
    if (at.rank > 3) place += static_cast<std::int32_t>(at.i[3]) * view.strides[3];
    return place;
  }
  __forceinline__ double value(const TensorSpec& tensor, const At& at) const {
    const View& view = run_.views[tensor.index];
    const std::int64_t place = element_place(view, at);
    return J::with_type(tensor,
                        [&]<DType type>() { return value_at<type>(view.data + place * bytes_of<type>()); });
  }
  // Not only where the value is stored: its loads would wait for that branch.
  static __forceinline__ void evaluate_here(float v) { asm volatile("" : : "f"(v)); }
  static __forceinline__ void evaluate_here(double v) { asm volatile("" : : "d"(v)); }
  static __forceinline__ auto value_of(const N& v) {
    if constexpr (is_golden)
      return high_of(v.v);
    else
      return v.v;
  }

  template <DType type>
  __forceinline__ void join(int k, const View& view, std::int32_t place, const At& at, const N& number) {
    const auto& v = golden_of(number);
    const unsigned char* target = view.data + std::int64_t{element_place(view, at)} * bytes_of<type>();
    unsigned char* reference = view.reference + std::int64_t{place} * reference_bytes<type>;
    const double t = value_at<type>(target);
    double r;
    if constexpr (walks_beside<N>)
      r = stored_reference<type>(number.reference.v);
    else
      r = reference_at<type>(reference);
    if constexpr (J::keeps_golden) {
      if constexpr (walks_beside<N>) put_reference<type>(reference, number.reference.v);
      double* kept = view.golden + std::int64_t{place} * 3;
      kept[0] = high_of(v.v), kept[1] = low_of(v.v), kept[2] = v.magnitude();
    }
    LineErrors& errors = errors_[k];
    if constexpr (J::exact) {
      if (!(v.m <= greatest)) run_.findings.reasons |= overflow;
      if (!same_value(t, rounded_to<type>(value_of(v)))) run_.findings.reasons |= mismatch;
    } else {
      run_.findings.reasons |= join_element<type, J::judges_ulps>(
          run_.plan.tensors[k], view, run_.golden_unit, v, r, t, errors.maxima, run_.findings.outputs[k]);
    }
    count(errors, place);
  }
  __forceinline__ void store_integer(const TensorSpec& tensor, const At& at, double right, double other) {
    const View& view = run_.views[tensor.index];
    if (!view.tested || !(run_.inside || run_.team.lane == 0)) return;
    if constexpr (is_golden) {
      const double t = value(tensor, at);
      if (t != right && t != other) run_.findings.reasons |= mismatch;
      count(errors_[tensor.index], dense_place(view, at));
    }
  }
  static __forceinline__ void count(LineErrors& errors, std::int32_t place) {
    errors.count += 1;
    errors.first = place < errors.first ? place : errors.first;
    errors.last = place > errors.last ? place : errors.last;
  }

  // f(first), f(first + step), ... are this lane's terms.
  template <class F>
  __forceinline__ N sum(std::int32_t n, std::int32_t first, std::int32_t step, const F& f) const {
    if constexpr (walks_beside<N>) {
      typename N::Reference::Sum in_order;
      typename N::Golden::Sum golden;
      const auto term = [&](std::int32_t i) {
        const N both = f(i);
        golden.add(both.golden);
        return both.reference;
      };
      sum_in_order(n, first, step, term, in_order);
      return {in_order.value(), joined(golden, n, step)};
    } else if constexpr (is_golden) {
      typename N::Sum total;
      side_by_side(first, n, step, [&](std::int32_t i) { total.add(f(i)); });
      return joined(total, n, step);
    } else {
      typename N::Sum total;
      sum_in_order(n, first, step, f, total);
      return total.value();
    }
  }
  template <class Sum> __forceinline__ auto joined(Sum total, std::int32_t n, std::int32_t step) const {
    if (n > run_.plan.longest) run_.findings.reasons |= gate_invalid;
    const auto merge = [](Sum& a, const Sum& b) { a.merge(b); };
    if (step > 1) total = run_.team.merged(total, merge, run_.exchange);
    return total.value();
  }

  // The sum of the reference, one term after the other whoever made it: lanes leave their terms in shared
  // memory, then each lane (of a block: of its first warp) adds all of them up.
  template <class F, class Sum>
  __forceinline__ void sum_in_order(std::int32_t n, std::int32_t first, std::int32_t step, const F& f,
                                    Sum& total) const {
    using Real = typename J::Real;
    if (step == 1) {
#pragma unroll 4
      for (std::int32_t i = 0; i < n; ++i) total.add(f(i));
      return;
    }
    const bool adds = run_.team.within_warp() || threadIdx.x < warp_threads;
    const std::int32_t share = step * terms_a_thread, apart = share + bytes_apart / sizeof(Real);
    int half = 0;
    for (std::int32_t begin = 0; begin < n; begin += share, half ^= 1) {
      Real* terms = reinterpret_cast<Real*>(run_.exchange.terms[half]) + run_.team.number * apart;
      if (begin + share <= n) {
        Real own[terms_a_thread];
#pragma unroll
        for (int k = 0; k < terms_a_thread; ++k) {
          const auto term = f(begin + first + k * step);
          own[k] = term.v;
        }
#pragma unroll
        for (int k = 0; k < terms_a_thread; ++k) terms[first + k * step] = own[k];
      } else {
#pragma unroll 1
        for (std::int32_t i = begin + first; i < n; i += step) {
          const auto term = f(i);
          terms[i - begin] = term.v;
        }
      }
      run_.team.sync();
      const std::int32_t count = n - begin < share ? n - begin : share;
      if (adds) add_all(terms, count, total);
    }
    if (run_.team.within_warp()) return run_.team.sync();
    Sum* whole = reinterpret_cast<Sum*>(run_.exchange.states[1]);
    if (threadIdx.x == 0) *whole = total;
    __syncthreads();
    total = *whole;
    __syncthreads();
  }
  template <class Real, class Sum>
  static __forceinline__ void add_all(const Real* terms, std::int32_t count, Sum& total) {
    constexpr int width = 16 / sizeof(Real);
    struct alignas(16) Pack {
      Real term[width];
    };
    std::int32_t k = 0;
#pragma unroll 8
    for (; k + width <= count; k += width) {
      const Pack pack = *reinterpret_cast<const Pack*>(terms + k);
      for (const Real term : pack.term) total.add(typename J::Reference(term));
    }
    for (; k < count; ++k) total.add(typename J::Reference(terms[k]));
  }

  Run<J, N>& run_;
  unsigned char* scratch_;
  std::int64_t taken_ = 0;
  std::int32_t index_[4];
  LineErrors errors_[is_golden ? J::tensor_count : 1];
};

} // namespace assay::screen
