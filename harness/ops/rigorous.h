// The worst that Real's arithmetic can do on this input, rounding to nearest:
// `error` bounds |t - truth| for every t that a legal evaluation gives (any
// order of a sum, with or without contraction, functions off by their
// documented maximum). Every operation adds one unit roundoff of the largest
// magnitude its result can have; a sum of n terms adds gamma(n - 1) = (n - 1) u
// / (1 - (n - 1) u) times the sum of magnitudes (Higham, Accuracy and Stability
// of Numerical Algorithms, 2nd ed., section 4.2), whatever its order.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/number_context.h"
#include "harness/ops/operators.h"
#include "harness/ops/wide_functions.h"

#include <cmath>
#include <limits>

namespace assay {

template <class Real> struct Rigorous : Operators<Rigorous<Real>> {
  double v = 0; // one legal evaluation, in double
  double error = 0;

  static constexpr double u = std::numeric_limits<Real>::epsilon() / 2;
  // Half the smallest subnormal; for double, where no double holds it, the
  // whole.
  static constexpr double half_subnormal = std::is_same_v<Real, float> ? 0x1p-150 : 0x1p-1074;
  static constexpr double min_normal = std::numeric_limits<Real>::min();
  static constexpr double largest = std::numeric_limits<Real>::max();
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  Rigorous() = default;
  template <Literal T> Rigorous(T exact) : v(static_cast<double>(exact)) {
    if (v != static_cast<double>(static_cast<Real>(exact)))
      error = u * std::fabs(v); // a literal that Real lacks
  }
  Rigorous(Constant c) : v(c.high), error(u * std::fabs(c.high)) {}
  Rigorous(double value, double bound) : v(value), error(bound) {}

  // One rounding of a result that lies within `passed` of v. Sums do not
  // underflow: they are exact there.
  static Rigorous rounded_once(double v, double passed, bool may_underflow = true) {
    const double size = std::fabs(v) + passed;
    double error = passed + u * size;
    if (may_underflow && size > 0 && std::fabs(v) - passed < min_normal) error += half_subnormal;
    if (!(size + error < largest)) error = infinity;
    return {v, error};
  }

  static Rigorous add(const Rigorous& a, const Rigorous& b) {
    return rounded_once(a.v + b.v, a.error + b.error, false);
  }
  static Rigorous multiply(const Rigorous& a, const Rigorous& b) {
    return rounded_once(a.v * b.v, times(std::fabs(a.v), b.error) + times(std::fabs(b.v), a.error) +
                                       3 * times(a.error, b.error));
  }
  static Rigorous divide(const Rigorous& a, const Rigorous& b) {
    const double quotient = a.v / b.v;
    const double clearance = std::fabs(b.v) - 2 * b.error; // of |t_b|; |truth of b| is at least |v| - error
    if (!(clearance > 0)) return {quotient, b.v == 0 && b.error == 0 ? 0 : infinity};
    const double largest_quotient = (std::fabs(a.v) + a.error) / (std::fabs(b.v) - b.error);
    const double passed = (a.error + times(largest_quotient, b.error)) / clearance * (1 + 0x1p-40);
    Rigorous result = rounded_once(quotient, passed);
    if (has_inexact_reciprocal(b)) { // as a * (1 / b) it is rounded twice
      double first = u * (std::fabs(quotient) + passed);
      if (1 / (std::fabs(b.v) + b.error) < min_normal)
        first = std::fmax(first, (std::fabs(a.v) + a.error) * half_subnormal);
      result.error += (1 + u) * first;
    }
    result.error += documented_division_error<Real>(std::fabs(quotient) + passed, number_context.approximate);
    if (approximate_quotient_is_zero(static_cast<Real>(b.v), number_context.approximate))
      result.error += std::fabs(quotient) + passed;
    return result;
  }
  static Rigorous negate(const Rigorous& a) { return {-a.v, a.error}; }
  static Rigorous absolute(const Rigorous& a) { return {std::fabs(a.v), a.error}; }
  static void raise(Rigorous& top, const Rigorous& b) {
    if (b.v > top.v || b.v != b.v) top.v = b.v;
    if (b.error > top.error) top.error = b.error;
  }
  static bool less(const Rigorous& a, const Rigorous& b) { return a.v < b.v; }
  static bool equal(const Rigorous& a, const Rigorous& b) { return a.v == b.v; }

  template <Function function> static Rigorous apply(const Rigorous& x) {
    const double y = evaluate<function>(x.v);
    if (!std::isfinite(y)) return {y, std::isfinite(x.v) && !is_pole<function>(x.v) ? infinity : x.error};
    const double passed = x.error == 0 ? 0 : passed_error<function>(x.v, x.error, y) * (1 + 0x1p-40);
    if (number_context.exact_points && x.error == 0 && is_exact_at<function>(x.v)) return {y, 0};
    Rigorous result = rounded_once(y, passed);
    const double size = std::fabs(y) + passed;
    if (result.error < infinity && std::isfinite(x.v)) {
      const auto documented = [&](double at) { // the result may round up to the next binade
        return documented_error<function, Real>(at, size * (1 + 2 * u), number_context.approximate);
      };
      result.error +=
          std::fmax(documented(x.v), std::fmax(documented(x.v - x.error), documented(x.v + x.error)));
    }
    return result;
  }

  struct Sum {
    double total = 0, correction = 0, size = 0, error = 0, count = 0;
    void add(const Rigorous& term) {
      if (term.v == 0 && term.error == 0) return; // adding an exact 0 is exact
      const double sum = total + term.v;
      if (std::isfinite(sum))
        correction += std::fabs(total) >= std::fabs(term.v) ? (total - sum) + term.v : (term.v - sum) + total;
      total = sum;
      size += std::fabs(term.v);
      error += term.error;
      count += 1;
    }
    void merge(const Sum&) = delete; // one bound serves every order
    Rigorous value() const {
      const double steps = (count > 1 ? count - 1 : 0) * u;
      if (!(steps < 0.5) || !(size + error < largest)) return {total + correction, infinity};
      return {total + correction, error + steps / (1 - steps) * (size + error)};
    }
  };
  static constexpr bool any_order = true;

  DoubleDouble value() const { return v; }
  // The number that a kernel has here, whatever it errs by.
  Rigorous as_computed() const { return {v, 0}; }
  Rigorous rounded(const Format& storage) const {
    const double size = std::fabs(v) + error;
    if (storage.precision == std::numeric_limits<Real>::digits) return *this;
    if (size >= storage.largest) return {v, infinity};
    return {v, error + std::ldexp(size, -storage.precision) + (size > 0 ? storage.min_subnormal / 2 : 0)};
  }
  static Rigorous load(double exact) { return exact; }
  void store(const Slot& slot, long long i) const {
    slot.value[i] = v;
    slot.bound[i] = std::isfinite(v) ? (error == error ? error * (1 + 0x1p-20) : infinity) : 0;
  }

 private:
  static bool has_inexact_reciprocal(const Rigorous& b) {
    int exponent = 0;
    const auto inverse = static_cast<Real>(1 / b.v);
    return b.error != 0 || (std::fabs(std::frexp(b.v, &exponent)) != 0.5 && // no power of 2
                            inverse != 0 && std::isfinite(inverse));
  }
  static double times(double size, double error) {
    return error == 0 ? 0 : size * error;
  } // inf * 0 is 0 here
};

} // namespace assay
