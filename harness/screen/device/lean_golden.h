// The golden of the screen: a value, and the magnitude that bounds its error. Where the host's golden
// (ops/golden.h) proves a bound operation by operation, here
//   |v - truth| <= CasePlan::golden_unit * m
// with m, as there, what one rounding of relative size 1 in every operation of the formula adds up to: by
// induction every operation adds a rounding of at most `unit` times its result, and a sum of n terms, n at
// most CasePlan::longest, adds n of them. That holds to first order; a second order that could count (a
// divisor or an argument known to fewer than 30 bits) makes m infinite, as does whatever the method excuses
// as an overflow of the formula itself: nothing is then known, and the host judges the case.
//
// Value: double where the case's arithmetic is float; DoubleDouble for f64 cases.
// careful: tells what overflows in the formula from NaN and infinities that were handed to it. Otherwise m is
// infinite or NaN for both, at half the price: it is held times a power of two, `scale`, by which it
// overflows of itself as soon as a number comes within a factor of two of the largest. Where all stays finite
// both say the same, bit for bit.
#pragma once

#include "harness/numerics/double_double.h"
#include "harness/numerics/formats.h"
#include "harness/ops/formula.h"
#include "harness/ops/operators.h"
#include "harness/ops/wide_functions.h"
#include "harness/screen/device/errors.h"

namespace assay::screen {

inline double high_of(double v) { return v; }
inline double high_of(DoubleDouble v) { return v.high; }
inline double low_of(double) { return 0; }
inline double low_of(DoubleDouble v) { return v.low; }

inline constexpr double infinite = std::numeric_limits<double>::infinity();
inline constexpr double greatest = std::numeric_limits<double>::max();
inline constexpr double second_order = 0x1p-30; // of an operand's magnitude: what its error may not reach

template <class Value, bool careful> struct LeanGolden : Operators<LeanGolden<Value, careful>> {
  static constexpr bool wide = std::is_same_v<Value, DoubleDouble>;
  static constexpr bool is_golden = true, is_careful = careful;
  static constexpr bool any_order = true;
  static constexpr double largest =
      wide ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  static constexpr double may_overflow = largest * (1 - 0x1p-7); // as the host's
  static constexpr double arithmetic_unit = wide ? 0x1p-53 : 0x1p-24;
  static constexpr double scale = careful ? 1 : wide ? 2 : 0x1p897;
  // The low words of smaller f64 products underflow: nothing is then known.
  static constexpr double tiny = 0x1p-900;

  Value v = 0.0;
  double m = 0;      // times scale
  bool exact = true; // m is 0, as is known when the program is compiled: what it would add is left out there

  LeanGolden() = default;
  template <Literal T> LeanGolden(T exact) : v(static_cast<double>(exact)) {}
  // Its own error, in doubles, is what 64 roundings of a 32nd of it are.
  LeanGolden(Constant c) : v(c.high), m(std::fabs(c.high) * (0x1p-5 * scale)), exact(false) {
    if constexpr (wide) v = DoubleDouble(c.high, c.low);
  }
  LeanGolden(Value value, double scaled_magnitude) : v(value), m(scaled_magnitude), exact(false) {}

  // As it lies in memory, where nobody knows any more whether it is exact.
  LeanGolden kept() const { return {v, m}; }
  double magnitude() const { return m * (1 / scale); }
  bool finite() const { return std::fabs(high_of(v)) <= greatest; }
  void mark_overflow() { m = infinite, exact = false; }
  bool overflowed() const { return !(m <= greatest); }
  DoubleDouble value() const { return v; }

  static LeanGolden add(const LeanGolden& a, const LeanGolden& b) {
    const Value sum = a.v + b.v;
    const double size = std::fabs(high_of(sum));
    const double m = a.exact ? one_more(size, b) : b.exact ? one_more(size, a) : one_more(size, a.m + b.m);
    return {sum, unless_extreme(size, m, a, b)};
  }
  static LeanGolden multiply(const LeanGolden& a, const LeanGolden& b) {
    const Value product = a.v * b.v;
    const double size = std::fabs(high_of(product));
    const double left = std::fabs(high_of(a.v)), right = std::fabs(high_of(b.v));
    if (wide && size < tiny && left != 0 && right != 0) return {product, infinite};
    double m = size * scale;
    if (!a.exact && !b.exact) m = std::fma(arithmetic_unit / scale * a.m, b.m, m);
    if (!a.exact) m = std::fma(right, a.m, m);
    if (!b.exact) m = std::fma(left, b.m, m);
    return {product, unless_extreme(size, m, a, b)};
  }
  static LeanGolden divide(const LeanGolden& a, const LeanGolden& b) {
    const Value quotient = a.v / b.v;
    const double size = std::fabs(high_of(quotient)), divisor = std::fabs(high_of(b.v));
    if (!(size < may_overflow) || !b.finite()) return extreme_quotient(quotient, a, b);
    if (wide && (size < tiny || std::fabs(high_of(a.v)) < tiny) && high_of(a.v) != 0)
      return {quotient, infinite};
    if (a.exact && b.exact) return {quotient, size * scale};
    if (!(b.m * (second_order / scale) < divisor)) return {quotient, infinite};
    return {quotient, one_more(size, std::fma(size, b.m, a.m) / divisor)};
  }
  static LeanGolden negate(LeanGolden a) {
    a.v = -a.v;
    return a;
  }
  static LeanGolden absolute(const LeanGolden& a) { return std::signbit(high_of(a.v)) ? negate(a) : a; }
  static void raise(LeanGolden& top, const LeanGolden& b) {
    if (less(top, b) || high_of(b.v) != high_of(b.v)) top.v = b.v;
    if (b.m > top.m || b.m != b.m) top.m = b.m;
    top.exact &= b.exact;
  }
  static bool less(const LeanGolden& a, const LeanGolden& b) { return a.v < b.v; }
  static bool equal(const LeanGolden& a, const LeanGolden& b) { return a.v == b.v; }

  template <Function function> static LeanGolden apply(const LeanGolden& x) {
    const double argument = high_of(x.v);
    const bool exact_point = is_exact_at<function>(argument) && low_of(x.v) == 0;
    Value y;
    if constexpr (wide) {
      static_assert(function != Function::erf && function != Function::erfc,
                    "erf and erfc of f64 cases are evaluated in long double, which a GPU has not");
      const WideResult result = wide_function<function>(x.v.high, x.v.low);
      y = DoubleDouble(result.high, result.low);
    } else {
      y = evaluate<function>(argument);
    }
    const double size = std::fabs(high_of(y));
    if (!(size < may_overflow)) {
      const bool overflowed = x.finite() && !is_pole<function>(argument) && size >= may_overflow;
      return {y, !careful || overflowed || !(x.m <= greatest) ? infinite : 0};
    }
    const double own = exact_point ? 0 : size * scale;
    if (x.exact) return {y, own};
    if (!(x.m * (second_order / scale) < scale_of<function>(argument))) return {y, infinite};
    return {y, std::fma(derivative<function>(argument, high_of(y)), x.m, own)};
  }

  // A running sum; `longest` bounds the roundings that any of its terms meets. m leaves out the size of terms
  // that are known not to be finite: what the others add up to may overflow beside them.
  struct Sum {
    Value total = 0.0;
    double m = 0;
    void add(const LeanGolden& term) {
      total = total + term.v;
      const double size = std::fabs(high_of(term.v));
      m += one_more(!careful || size <= greatest ? size : 0, term);
    }
    void merge(const Sum& other) {
      total = total + other.total;
      m += other.m;
    }
    LeanGolden value() const {
      if constexpr (!careful) return {total, m};
      return {total, !(m < may_overflow) ? infinite : std::fabs(high_of(total)) <= greatest ? m : 0};
    }
  };

  LeanGolden rounded(const Format& storage) const {
    const double size = std::fabs(high_of(v));
    if (finite() && size >= storage.largest + storage.edge_gap()) return {v, infinite};
    if (!finite()) return {v, m};
    const double units = Format::power_of_two(-storage.precision) / arithmetic_unit;
    return {v, std::fma(size, units * scale, m)};
  }
  static LeanGolden load(double exact) { return exact; }

 private:
  // The magnitude of `of` and one more rounding of a result of that size.
  static double one_more(double size, const LeanGolden& of) {
    return of.exact ? size * scale : std::fma(size, scale, of.m);
  }
  static double one_more(double size, double m) { return std::fma(size, scale, m); }
  // By upper words: all from there on are taken for what may overflow, NaN too, whose sign a GPU sets.
  static bool is_small(double size) {
    return static_cast<std::uint32_t>(__double2hiint(size)) <
           static_cast<std::uint32_t>(__double2hiint(may_overflow));
  }
  // How far an argument may be off before f bends: |x - pole|, or 1.
  template <Function function> static double scale_of(double x) {
    if constexpr (function == Function::log || function == Function::sqrt || function == Function::rsqrt)
      return x;
    if constexpr (function == Function::log1p) return 1 + x;
    return 1;
  }
  static double unless_extreme(double size, double m, const LeanGolden& a, const LeanGolden& b) {
    if constexpr (careful) return is_small(size) ? m : extreme_magnitude(a, b);
    return m;
  }
  // Of results not below `may_overflow`: flagged where every operand was finite, or one was flagged. By words
  // and without a branch, so that the loads of a loop's next turns need not wait for it.
  static double extreme_magnitude(const LeanGolden& a, const LeanGolden& b) {
    const bool from_finite =
        std::max(magnitude_word(high_of(a.v)), magnitude_word(high_of(b.v))) < infinite_word;
    const bool flagged = std::max(magnitude_word(a.m), magnitude_word(b.m)) >= infinite_word;
    return from_finite | flagged ? infinite : 0;
  }
  static LeanGolden extreme_quotient(Value r, const LeanGolden& a, const LeanGolden& b) {
    const bool from_finite = a.finite() && b.finite() && high_of(b.v) != 0;
    return {r, !careful || from_finite || !(a.m <= greatest) || !(b.m <= greatest) ? infinite : 0};
  }
};

} // namespace assay::screen
