// The number type that stands in for the truth. Values are double-doubles (high
// + low); functions are evaluated in double where the case's arithmetic is
// float (Wide = false), in double-double for f64 cases (Wide = true). Along
// with each value travel
//   error      a bound on |value - truth|: the exact residue of each operation
//   where it can be had, so that exact
//              results have bound 0, else its proven bound (double_double.h),
//              and the operands' errors passed on;
//   magnitude  what one rounding of relative size 1 in every operation of the
//   formula would add up to, to first order,
//              each term of a sum counted once: for a plain sum the sum of
//              magnitudes of its terms;
//   reach      of a sum with what is added to it, a bias say, which a kernel may add before the last of the
//              terms: the sum of all their magnitudes, over the largest finite value;
//   overflows  an intermediate, or the sum of magnitudes of a sum, reaches the
//   largest finite value of the arithmetic
//              type although every operand was finite (method: section 2), or comes so close that a legal
//              evaluation's roundings can take it there.
#pragma once

#include "harness/numerics/formats.h"
#include "harness/ops/formula.h"
#include "harness/ops/operators.h"
#include "harness/ops/wide_functions.h"

#include <cmath>
#include <limits>

namespace assay {

template <bool wide> struct Golden : Operators<Golden<wide>> {
  double high = 0;
  double low = 0;
  double error = 0;
  double magnitude = 0;
  float reach = 0; // 0: no sum, or too small a one to matter
  bool overflows = false;

  static constexpr bool is_golden = true;
  static constexpr double u = 0x1p-53;
  static constexpr double largest =
      wide ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  // Legal evaluations are off by some roundings, of which the coarsest is bf16's, 2^-9.
  static constexpr double may_overflow = largest * (1 - 0x1p-7);
  // Roundoff unit of the arithmetic type.
  static constexpr double arithmetic_unit = wide ? 0x1p-53 : 0x1p-24;
  // Smaller sums, less than half a last place of the largest value, take nothing that is finite past it.
  static constexpr double has_reach = largest * arithmetic_unit / 2;
  // Below this, a product's low word may underflow.
  static constexpr double tiny = 0x1p-900;

  Golden() = default;
  template <Literal T> Golden(T exact) : high(static_cast<double>(exact)) {}
  Golden(Constant c) : high(c.high), low(c.low), error(0x1p-106 * std::fabs(c.high)) {}
  Golden(double h, double l, double e, double m, bool o, float r = 0)
      : high(h), low(l), error(e), magnitude(m), reach(r), overflows(o) {}

  bool finite() const { return std::fabs(high) <= std::numeric_limits<double>::max(); }
  void mark_overflow() { overflows = true; }
  bool overflowed() const { return overflows; }

  [[gnu::always_inline]] static Golden add(const Golden& a, const Golden& b) {
    if (a.reach + b.reach > 0) [[unlikely]]
      return in_registers(far_reaching_sum(a, b));
    const double sum = a.high + b.high;
    if (!(std::fabs(sum) < may_overflow)) [[unlikely]]
      return in_registers(extreme_sum(a, b));
    const double part = sum - a.high;
    const double rest = (a.high - (sum - part)) + (b.high - part);
    const double lows = a.low + b.low;
    const double low = rest + lows;
    const double rounding = lows == 0 ? 0 : u * (std::fabs(lows) + std::fabs(low)) * (1 + 4 * u);
    const double high = sum + low;
    const double low_part = high - sum; // after cancellation low may be the larger: a full two-sum
    return {high, (sum - (high - low_part)) + (low - low_part), a.error + b.error + rounding,
            a.magnitude + b.magnitude + std::fabs(sum), bool(a.overflows | b.overflows)};
  }

  [[gnu::always_inline]] static Golden multiply(const Golden& a, const Golden& b) {
    const double product = a.high * b.high;
    if (!(std::fabs(product) < may_overflow)) [[unlikely]]
      return in_registers(extreme_product(a, b));
    const double size = std::fabs(product);
    const double cross = std::fma(a.high, b.low, a.low * b.high);
    const double low = std::fma(a.high, b.high, -product) + cross;
    double rounding = a.low != 0 || b.low != 0 ? 8 * u * u * size : 0;
    if (size < tiny) [[unlikely]]
      rounding += a.high != 0 && b.high != 0 ? 0x1p-1071 : 0;
    const double left = std::fabs(a.high), right = std::fabs(b.high);
    const double high = product + low;
    return {high, low - (high - product), left * b.error + right * a.error + 2 * a.error * b.error + rounding,
            left * b.magnitude + right * a.magnitude + arithmetic_unit * a.magnitude * b.magnitude + size,
            bool(a.overflows | b.overflows)};
  }

  [[gnu::always_inline]] static Golden divide(const Golden& a, const Golden& b) {
    const double quotient = a.high / b.high;
    if (!(std::fabs(quotient) < may_overflow) || !b.finite()) [[unlikely]]
      return in_registers(extreme_quotient(a, b));
    const double rest = std::fma(-quotient, b.high, a.high) + std::fma(-quotient, b.low, a.low);
    const double inverse = 1 / b.high;
    const double low = rest * inverse;
    const double size = std::fabs(quotient);
    double rounding = rest == 0 && a.low == 0 && b.low == 0 ? 0 : double_double_epsilon_div * size;
    const double scale = std::fabs(inverse);
    if (size < tiny || std::fabs(a.high) < tiny) [[unlikely]]
      rounding += a.high != 0 ? 0x1p-1071 * (1 + scale) : 0;
    // |a/b - a'/b'| <= (e_a + |q| e_b) / (|b| - e_b)
    const double clearance = std::fabs(b.high) - b.error;
    const double passed = b.error == 0    ? a.error * scale
                          : clearance > 0 ? (a.error + size * b.error) / clearance
                                          : std::numeric_limits<double>::infinity();
    const double high = quotient + low;
    return {high, low - (high - quotient), passed * (1 + 8 * u) + rounding,
            (a.magnitude + size * b.magnitude) * scale + size, bool(a.overflows | b.overflows)};
  }

  static Golden negate(const Golden& a) { return {-a.high, -a.low, a.error, a.magnitude, a.overflows}; }
  static Golden absolute(const Golden& a) {
    return std::signbit(a.high) ? negate(a) : Golden{a.high, a.low, a.error, a.magnitude, a.overflows};
  }
  static void raise(Golden& top, const Golden& b) {
    if (less(top, b) || b.high != b.high) top.high = b.high, top.low = b.low;
    if (b.error > top.error) top.error = b.error;
    if (b.magnitude > top.magnitude) top.magnitude = b.magnitude;
    top.reach = 0;
    top.overflows |= b.overflows;
  }
  static bool less(const Golden& a, const Golden& b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
  }
  static bool equal(const Golden& a, const Golden& b) { return a.high == b.high && a.low == b.low; }

  template <Function function> [[gnu::always_inline]] static Golden apply(const Golden& x) {
    const bool exact_point = is_exact_at<function>(x.high) && x.low == 0;
    const WideResult y =
        wide ? wide_function<function>(x.high, x.low) : double_function<function>(x.high, x.low);
    const double size = std::fabs(y.high);
    const bool overflowed = size >= may_overflow && x.finite() && !is_pole<function>(x.high);
    if (!(size <= std::numeric_limits<double>::max())) [[unlikely]]
      return {y.high, 0, 0, 0, bool(x.overflows | overflowed)};
    const double slope = derivative<function>(x.high, y.high);
    const double passed = x.error == 0 ? 0 : passed_on<function>(x.high, x.error, y.high);
    return {y.high, y.low, passed + (exact_point ? 0 : y.error),
            (x.magnitude == 0 ? 0 : slope * x.magnitude) + (exact_point ? 0 : size),
            bool(x.overflows | overflowed)};
  }

  // high + low by cascaded summation (Ogita, Rump, Oishi, SIAM J. Sci. Comput.
  // 26(6), 2005, algorithm Sum2, with the corrections kept): every two-sum is
  // exact, so all error is in adding up the corrections.
  struct Sum {
    double high = 0, corrections = 0, corrections_size = 0, error = 0, magnitude = 0, terms_size = 0;
    double count = 0;
    double finite_size = 0; // of the terms that are finite: beside an infinite one they may overflow alone
    bool overflows = false;

    [[gnu::always_inline]] void add(const Golden& term) {
      const double sum = high + term.high;
      const double part = sum - high;
      const double correction = ((high - (sum - part)) + (term.high - part)) + term.low;
      high = sum;
      corrections += correction;
      corrections_size += std::fabs(correction);
      error += term.error;
      magnitude += term.magnitude;
      const double size = std::fabs(term.high);
      terms_size += size;
      finite_size += size <= std::numeric_limits<double>::max() ? size : 0;
      overflows |= term.overflows;
      count += 1;
    }
    void merge(const Sum&) = delete; // never needed: no order is better than another
    Golden value() const {
      if (!(std::fabs(terms_size) < may_overflow)) [[unlikely]] {
        if (!(terms_size <= std::numeric_limits<double>::max()))
          return {high, 0, 0, 0, overflows || finite_size >= may_overflow, reach()};
      }
      const double sum = high + corrections;
      const double part = sum - high;
      const double rest = (high - (sum - part)) + (corrections - part);
      return {sum,
              rest,
              (error + 2 * (count + 1) * u * corrections_size) * (1 + 2 * count * u),
              magnitude + terms_size,
              overflows || terms_size >= may_overflow,
              reach()};
    }
    float reach() const { return finite_size < has_reach ? 0 : static_cast<float>(finite_size / largest); }
  };
  static constexpr bool any_order = true;

  DoubleDouble value() const { return {high, low}; }
  // To the storage type, where the eager formula rounds: the truth does not,
  // but float kernels suffer it.
  Golden rounded(const Format& storage) const {
    Golden same = *this;
    const double size = std::fabs(high);
    same.magnitude += std::ldexp(size, -storage.precision) / arithmetic_unit;
    same.overflows |= finite() && size >= storage.largest + storage.edge_gap();
    return same;
  }
  static Golden load(double exact) { return exact; }

  void store(const Slot& slot, long long i) const {
    const bool is_finite = finite();
    slot.value[i] = high;
    if (slot.value_low) slot.value_low[i] = is_finite ? low : 0;
    const double left_out = slot.value_low ? 0 : std::fabs(low);
    const bool claims = error == error && !(wide && overflows); // there is no wider type to look from
    slot.bound[i] = !claims     ? std::numeric_limits<double>::infinity()
                    : is_finite ? (error + left_out) * (1 + 0x1p-20)
                                : 0;
    constexpr double most = std::numeric_limits<double>::max(); // f64 magnitudes may overflow, and
                                                                // inf * 0 follow
    slot.magnitude[i] = is_finite ? (magnitude <= most ? std::fmax(magnitude, std::fabs(high)) : most) : 0;
    slot.formula_overflows[i] = overflows;
  }

 private:
  [[gnu::always_inline]] static Golden in_registers(const Golden& g) {
    return {g.high, g.low, g.error, g.magnitude, g.overflows, g.reach};
  }

  // Operations whose result is not below `may_overflow`: rare, so out of line; by
  // value, so that the operands of the others stay in registers.
  [[gnu::noinline]] static Golden extreme_sum(Golden a, Golden b) {
    return extreme(a, b, a.value() + b.value(), a.error + b.error, false);
  }
  [[gnu::noinline]] static Golden far_reaching_sum(Golden a, Golden b) {
    const auto taken = [](Golden& g) {
      const double own = g.finite() ? std::fabs(g.high) / largest : 0;
      const double reach = g.reach > 0 ? static_cast<double>(g.reach) : own;
      g.reach = 0;
      return reach;
    };
    const double reach = taken(a) + taken(b);
    Golden sum = add(a, b);
    sum.reach = static_cast<float>(reach);
    sum.overflows |= reach >= may_overflow / largest;
    return sum;
  }
  [[gnu::noinline]] static Golden extreme_product(Golden a, Golden b) {
    const double passed = std::fabs(a.high) * b.error + std::fabs(b.high) * a.error + 2 * a.error * b.error;
    return extreme(a, b, a.value() * b.value(), passed, false);
  }
  [[gnu::noinline]] static Golden extreme_quotient(Golden a, Golden b) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (a.finite() && !b.finite() && b.overflows) // b is past the largest double
      return {0, 0, std::fabs(a.high) / std::numeric_limits<double>::max(), 0, true};
    const double clearance = std::fabs(b.high) - b.error;
    const double passed =
        clearance > 0 ? (a.error + std::fabs(a.high / b.high) * b.error) / clearance : infinity;
    return extreme(a, b, a.value() / b.value(), passed, b.high == 0);
  }
  // passed: the operands' errors in the result r.
  static Golden extreme(const Golden& a, const Golden& b, DoubleDouble r, double passed, bool pole) {
    const bool from_finite = a.finite() && b.finite() && !pole;
    const bool flag = a.overflows || b.overflows || (from_finite && std::fabs(r.high) >= may_overflow);
    if (!(std::fabs(r.high) <= std::numeric_limits<double>::max())) return {r.high, 0, 0, 0, flag};
    return {r.high, r.low, passed + double_double_epsilon_div * std::fabs(r.high), std::fabs(r.high), flag};
  }
  template <Function function> [[gnu::noinline]] static double passed_on(double x, double e, double y) {
    return passed_error<function>(x, e, y) * (1 + 0x1p-40);
  }
};

} // namespace assay
