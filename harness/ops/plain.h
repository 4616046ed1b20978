// The plain formula in a kernel's own arithmetic: the reference and the legal
// orders. With `contract`, a product that meets an addition becomes one fused
// multiply-add, wherever nvcc would make one.
#pragma once

#include "harness/numerics/formats.h"
#include "harness/ops/formula.h"
#include "harness/ops/operators.h"

#include <cmath>

namespace assay {

template <class Real, bool contract> struct Plain : Operators<Plain<Real, contract>> {
  Real v = 0;

  Plain() = default;
  template <Literal T> Plain(T exact) : v(static_cast<Real>(exact)) {}
  Plain(Constant c) : v(static_cast<Real>(c.high)) {}

  // a * b, not yet rounded.
  struct Product : Operators<Plain> {
    Real a, b;
    Product(Real left, Real right) : a(left), b(right) {}
    operator Plain() const { return Plain(a * b); }
    friend Plain operator+(const Product& p, const Plain& c) { return std::fma(p.a, p.b, c.v); }
    friend Plain operator+(const Plain& c, const Product& p) { return std::fma(p.a, p.b, c.v); }
    friend Plain operator+(const Product& p, const Product& q) { return std::fma(p.a, p.b, q.a * q.b); }
    friend Plain operator-(const Product& p, const Plain& c) { return std::fma(p.a, p.b, -c.v); }
    friend Plain operator-(const Plain& c, const Product& p) { return std::fma(-p.a, p.b, c.v); }
    friend Plain operator-(const Product& p, const Product& q) { return std::fma(p.a, p.b, -(q.a * q.b)); }
  };

  static Plain add(const Plain& a, const Plain& b) { return a.v + b.v; }
  static auto multiply(const Plain& a, const Plain& b) {
    if constexpr (contract) {
      return Product(a.v, b.v);
    } else {
      return Plain(a.v * b.v);
    }
  }
  static Plain divide(const Plain& a, const Plain& b) { return a.v / b.v; }
  static Plain negate(const Plain& a) { return -a.v; }
  static Plain absolute(const Plain& a) { return std::fabs(a.v); }
  // largest = the larger of the two; NaN wins.
  static void raise(Plain& largest, const Plain& b) {
    largest.v = b.v > largest.v || b.v != b.v ? b.v : largest.v;
  }
  static bool less(const Plain& a, const Plain& b) { return a.v < b.v; }
  static bool equal(const Plain& a, const Plain& b) { return a.v == b.v; }
  template <Function function> static Plain apply(const Plain& a) { return evaluate<function>(a.v); }

  // A running sum.
  struct Sum {
    Real total = 0;
    void add(const Plain& term) { total = total + term.v; }
    void add(const Product& term) { total = std::fma(term.a, term.b, total); }
    void merge(const Sum& other) { total = total + other.total; }
    Plain value() const { return total; }
  };
  static constexpr bool any_order = false; // a sum's value depends on its order

  DoubleDouble value() const { return static_cast<double>(v); }
  Plain rounded(const Format& storage) const { return static_cast<Real>(round_to(storage, v)); }
  static Plain load(double exact) { return static_cast<Real>(exact); }
  void store(const Slot& slot, long long i) const { slot.value[i] = v; }
};

} // namespace assay
