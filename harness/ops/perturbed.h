// The plain formula with one thing wrong on purpose at every operation. Three
// number types over one base:
//   FunctionError  transcendentals, rsqrt (and approximate divisions) off by
//   their documented maximum Noisy          every operation rounded up or down
//   at random; exact results, max, compare and stores stay Narrow         a
//   suspect of method section 10: some results rounded to a narrower type, or
//   exponentials by way of products
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/number_context.h"
#include "harness/ops/op.h"
#include "harness/ops/operators.h"
#include "harness/ops/wide_functions.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay {

// N: the number type itself, whose static functions after_add(a, b, r),
// after_multiply, after_divide and after<function>(x, r) turn the nearest
// result r into the perturbed one.
template <class N, class Real> struct Perturbed : Operators<N> {
  Real v = 0;

  Perturbed() = default;
  template <Literal T> Perturbed(T exact) : v(static_cast<Real>(exact)) {}
  Perturbed(Constant c) : v(static_cast<Real>(c.high)) {}

  static N add(const N& a, const N& b) { return N::after_add(a.v, b.v, a.v + b.v); }
  static N multiply(const N& a, const N& b) { return N::after_multiply(a.v, b.v, a.v * b.v); }
  static N divide(const N& a, const N& b) { return N::after_divide(a.v, b.v, a.v / b.v); }
  static N negate(const N& a) { return -a.v; }
  static N absolute(const N& a) { return std::fabs(a.v); }
  static void raise(N& largest, const N& b) { largest = b.v > largest.v || b.v != b.v ? b : largest; }
  static bool less(const N& a, const N& b) { return a.v < b.v; }
  static bool equal(const N& a, const N& b) { return a.v == b.v; }
  template <Function function> static N apply(const N& a) {
    return N::template after<function>(a.v, evaluate<function>(a.v));
  }

  struct Sum {
    N total;
    void add(const N& term) { total = total + term; }
    void merge(const Sum& other) { total = total + other.total; }
    N value() const { return total; }
  };
  static constexpr bool any_order = false;

  DoubleDouble value() const { return static_cast<double>(v); }
  N rounded(const Format& storage) const { return static_cast<Real>(round_to(storage, v)); }
  static N load(double exact) { return static_cast<Real>(exact); }
  void store(const Slot& slot, long long i) const { slot.value[i] = v; }
};

template <class Real> struct FunctionError : Perturbed<FunctionError<Real>, Real> {
  using Perturbed<FunctionError, Real>::Perturbed;

  static Real off(Real r, double error) {
    if (!(error > 0) || !std::isfinite(r)) return r;
    using Sign = NumberContext::Sign;
    NumberContext& context = number_context;
    const bool up = context.sign == Sign::random ? context.coin() : context.sign == Sign::up;
    return static_cast<Real>(up ? r + error : r - error);
  }
  static FunctionError after_add(Real, Real, Real r) { return r; }
  static FunctionError after_multiply(Real, Real, Real r) { return r; }
  static FunctionError after_divide(Real, Real b, Real r) {
    if (approximate_quotient_is_zero(b, number_context.approximate) && off(Real(1), 1) < 1)
      return std::copysign(Real(0), r);
    return r == 0 ? r : off(r, documented_division_error<Real>(r, number_context.approximate));
  }
  template <Function function> static FunctionError after(Real x, Real r) {
    if (is_exact_at<function>(x) || r == 0) return r;
    const Real best = std::is_same_v<Real, float> // correctly rounded
                          ? static_cast<Real>(evaluate<function>(static_cast<double>(x)))
                          : static_cast<Real>(wide_function<function>(x, 0).high);
    const Real moved = off(best, documented_error<function, Real>(x, best, number_context.approximate));
    // No implementation goes past 0 here.
    constexpr bool positive = function == Function::exp || function == Function::erfc ||
                              function == Function::sqrt || function == Function::rsqrt;
    return positive && moved < 0 ? Real(0) : moved;
  }
};

template <class Real> struct Noisy : Perturbed<Noisy<Real>, Real> {
  using Perturbed<Noisy, Real>::Perturbed;

  // The exact result is r plus something of rest's sign: one of its two
  // neighbours.
  static Noisy either(Real r, double rest) {
    if (!(rest > 0 || rest < 0) || !std::isfinite(r) || !number_context.coin()) return r;
    return neighbour(r, rest > 0);
  }
  static Real neighbour(Real r, bool up) {
    using Bits = std::conditional_t<std::is_same_v<Real, float>, std::uint32_t, std::uint64_t>;
    constexpr Real smallest = std::numeric_limits<Real>::denorm_min();
    if (r == 0) return up ? smallest : -smallest;
    return std::bit_cast<Real>(std::bit_cast<Bits>(r) + ((r > 0) == up ? Bits(1) : ~Bits(0)));
  }
  // Other legal forms of the formula round where this one is exact: a row of equal elements has an exact mean
  // by its sum, and none by weighted means. No form rounds what merely repeats an operand: 0 + a, 1 * a.
  static Noisy either(Real a, Real b, Real r, double rest) {
    const bool repeats = r == 0 || std::fabs(r) == std::fabs(a) || std::fabs(r) == std::fabs(b);
    if (number_context.moves_exact && rest == 0 && !repeats) rest = number_context.coin() ? 1 : -1;
    return either(r, rest);
  }
  static Noisy after_add(Real a, Real b, Real r) { // Knuth's two-sum: exact
    const Real part = r - a;
    return either(a, b, r, (a - (r - part)) + (b - part));
  }
  static Noisy after_multiply(Real a, Real b, Real r) { return either(a, b, r, std::fma(a, b, -r)); }
  static Noisy after_divide(Real a, Real b, Real r) {
    const Real rest = std::fma(-r, b, a);
    return either(a, b, r, std::signbit(b) ? -rest : rest);
  }
  template <Function function> static Noisy after(Real x, Real r) {
    if constexpr (function == Function::sqrt) return either(r, std::fma(-r, r, x));
    if constexpr (function == Function::rsqrt) return Noisy(1) / sqrt(Noisy(x));
    if (is_exact_at<function>(x) || r == 0) return r;
    if constexpr (std::is_same_v<Real, float>) {
      const double wide = evaluate<function>(static_cast<double>(x));
      const auto nearest = static_cast<float>(wide);
      return either(nearest, wide - nearest);
    }
    return either(r, number_context.coin() ? 1 : -1);
  }
};

template <class Real> struct Narrow : Perturbed<Narrow<Real>, Real> {
  using Perturbed<Narrow, Real>::Perturbed;

  static Narrow narrow(Real r, unsigned which) {
    const bool wanted = (number_context.narrowed & which) != 0;
    return wanted ? static_cast<Real>(round_to(*number_context.narrow, r)) : r;
  }
  static Narrow after_add(Real a, Real b, Real r) {
    Narrow sum = narrow(r, narrowed_additions);
    sum.parts = {a, b};
    sum.made = Made::sum;
    return sum;
  }
  static Narrow multiply(const Narrow& a, const Narrow& b) {
    const unsigned ways = number_context.narrowed;
    if (b.made == Made::product && (ways & products_first) != 0) return product(a.v * b.parts[0], b.parts[1]);
    if (a.made == Made::product && (ways & products_last) != 0) return product(a.parts[0], a.parts[1] * b.v);
    if ((ways & products_across) != 0) {
      if (a.made == Made::product) return product(a.parts[0] * b.v, a.parts[1]);
      if (b.made == Made::product) return product(a.v * b.parts[1], b.parts[0]);
    }
    return product(a.v, b.v);
  }
  static Narrow product(Real a, Real b) {
    Narrow result = narrow(a * b, narrowed_products);
    result.parts = {a, b};
    result.made = Made::product;
    return result;
  }
  static Narrow divide(const Narrow& a, const Narrow& b) {
    const Real inverse = 1 / b.v;
    if ((number_context.narrowed & reciprocals) == 0 || inverse == 0 || !std::isfinite(inverse))
      return narrow(a.v / b.v, narrowed_quotients);
    Narrow result = narrow(a.v * inverse, narrowed_quotients);
    result.parts = {a.v, inverse};
    result.made = Made::product;
    return result;
  }
  template <Function function> static Narrow after(Real, Real r) { return narrow(r, narrowed_functions); }
  template <Function function> static Narrow apply(const Narrow& a) {
    if constexpr (function == Function::exp)
      if (a.made == Made::sum && (number_context.narrowed & (exponent_products | exponent_fused)) != 0)
        return exp_of_products(a.parts);
    return after<function>(a.v, evaluate<function>(a.v));
  }

  // In CUDA's own constants: log2(e) rounded to Real.
  static Narrow exp_of_products(const std::array<Real, 2>& terms) {
    constexpr auto log2_e = static_cast<Real>(1.4426950408889634);
    const bool fused = (number_context.narrowed & exponent_fused) != 0;
    const Real second = terms[1] * log2_e;
    return std::exp2(fused ? std::fma(terms[0], log2_e, second) : terms[0] * log2_e + second);
  }
  enum class Made : std::uint8_t { otherwise, sum, product } made = Made::otherwise;
  std::array<Real, 2> parts{}; // the terms, or factors

  struct Sum {
    Narrow total;
    void add(const Narrow& term) { total = narrow(total.v + term.v, narrowed_accumulators); }
    void merge(const Sum& other) { add(other.total); }
    Narrow value() const { return narrow(total.v, narrowed_sums); }
  };
};

} // namespace assay
