// The operators and functions that every number type has, so that a formula
// reads as mathematics. A number type N supplies add, multiply, divide, negate,
// less, equal, raise, absolute and apply<Function>.
#pragma once

#include "harness/ops/function_bounds.h"

#include <type_traits>

namespace assay {

template <class N> struct Operators {
  [[gnu::always_inline]] friend N operator+(const N& a, const N& b) { return N::add(a, b); }
  [[gnu::always_inline]] friend N operator-(const N& a, const N& b) { return N::add(a, N::negate(b)); }
  [[gnu::always_inline]] friend auto operator*(const N& a, const N& b) { return N::multiply(a, b); }
  [[gnu::always_inline]] friend N operator/(const N& a, const N& b) { return N::divide(a, b); }
  [[gnu::always_inline]] friend N operator-(const N& a) { return N::negate(a); }
  friend bool operator<(const N& a, const N& b) { return N::less(a, b); }
  friend bool operator>(const N& a, const N& b) { return N::less(b, a); }
  friend bool operator==(const N& a, const N& b) { return N::equal(a, b); }
  friend N abs(const N& a) { return N::absolute(a); }
  friend N maximum(N a, const N& b) { return N::raise(a, b), a; } // NaN wins
  [[gnu::always_inline]] friend N exp(const N& a) { return N::template apply<Function::exp>(a); }
  friend N expm1(const N& a) { return N::template apply<Function::expm1>(a); }
  friend N log(const N& a) { return N::template apply<Function::log>(a); }
  friend N log1p(const N& a) { return N::template apply<Function::log1p>(a); }
  friend N sqrt(const N& a) { return N::template apply<Function::sqrt>(a); }
  friend N rsqrt(const N& a) { return N::template apply<Function::rsqrt>(a); }
  friend N tanh(const N& a) { return N::template apply<Function::tanh>(a); }
  friend N erf(const N& a) { return N::template apply<Function::erf>(a); }
  friend N erfc(const N& a) { return N::template apply<Function::erfc>(a); }
};

template <class T>
concept Literal = std::is_arithmetic_v<T>;

// Where an instrument puts the value of one element (op.h: Evaluated); null
// where it has nothing to say.
struct Slot {
  double* value = nullptr;
  double* value_low = nullptr;
  double* bound = nullptr;
  double* magnitude = nullptr;
  double* alternative = nullptr;
  unsigned char* formula_overflows = nullptr;
};

} // namespace assay
