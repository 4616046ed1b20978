// Where reference and golden take the same steps they run as one: each input is read once, and what the
// reference makes of an element never leaves its thread.
#pragma once

#include "harness/ops/operators.h"
#include "harness/screen/device/lean_golden.h"

namespace assay::screen {

template <class Plain, class Lean> struct Beside : Operators<Beside<Plain, Lean>> {
  using Reference = Plain;
  using Golden = Lean;
  static constexpr bool is_golden = true, is_careful = Golden::is_careful;
  static constexpr double may_overflow = Golden::may_overflow, scale = Golden::scale;

  Reference reference;
  Golden golden;

  Beside() = default;
  template <Literal T> Beside(T exact) : reference(exact), golden(exact) {}
  Beside(Constant c) : reference(c), golden(c) {}
  Beside(const Reference& r, const Golden& g) : reference(r), golden(g) {}

  Beside kept() const { return {reference, golden.kept()}; }
  bool finite() const { return golden.finite(); }
  void mark_overflow() { golden.mark_overflow(); }
  DoubleDouble value() const { return golden.value(); }

  static Beside add(const Beside& a, const Beside& b) {
    return {Reference::add(a.reference, b.reference), Golden::add(a.golden, b.golden)};
  }
  static Beside multiply(const Beside& a, const Beside& b) {
    return {Reference::multiply(a.reference, b.reference), Golden::multiply(a.golden, b.golden)};
  }
  static Beside divide(const Beside& a, const Beside& b) {
    return {Reference::divide(a.reference, b.reference), Golden::divide(a.golden, b.golden)};
  }
  static Beside negate(const Beside& a) { return {Reference::negate(a.reference), Golden::negate(a.golden)}; }
  static Beside absolute(const Beside& a) {
    return {Reference::absolute(a.reference), Golden::absolute(a.golden)};
  }
  template <Function function> static Beside apply(const Beside& a) {
    return {Reference::template apply<function>(a.reference), Golden::template apply<function>(a.golden)};
  }
  Beside rounded(const Format& storage) const {
    return {reference.rounded(storage), golden.rounded(storage)};
  }
  static Beside load(double exact) { return exact; }
};

template <class N> inline constexpr bool walks_beside = false;
template <class Plain, class Lean> inline constexpr bool walks_beside<Beside<Plain, Lean>> = true;

template <class N> const N& golden_of(const N& v) { return v; }
template <class Plain, class Lean> const Lean& golden_of(const Beside<Plain, Lean>& v) { return v.golden; }

} // namespace assay::screen
