// What a judging program is compiled for: one formula, one pass, one type.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/plain.h"
#include "harness/screen/device/beside.h"

#include <type_traits>

namespace assay::screen {

template <class FormulaType, bool backward_pass, DType storage, bool kept = false> struct Job {
  using Formula = FormulaType;
  static constexpr bool backward = backward_pass;
  static constexpr DType type = storage;
  static constexpr bool keeps_golden = kept;
  using Real = std::conditional_t<storage == DType::f64, double, float>;
  using Reference = Plain<Real, false>;
  template <bool careful>
  using Lean = LeanGolden<std::conditional_t<storage == DType::f64, DoubleDouble, double>, careful>;
  // Whether golden and reference take the same steps, and so run as one.
  static constexpr bool one_form = [] {
    if constexpr (requires { Formula::one_form; }) return Formula::one_form;
    return false;
  }();
  template <bool careful>
  using Golden = std::conditional_t<one_form, Beside<Reference, Lean<careful>>, Lean<careful>>;

  static constexpr bool exact = [] {
    if constexpr (requires { Formula::exact; }) return Formula::exact;
    return false;
  }();
  // Equal to the golden, or to the alternative of an integer beside a tie.
  static __forceinline__ bool is_exact(const TensorSpec& spec) {
    return exact || with_type(spec, []<DType type>() { return type > DType::f8e5m2; });
  }
  // By representable values as well (method: section 6).
  static constexpr bool judges_ulps = [] {
    if constexpr (requires { Formula::elementwise; }) return Formula::elementwise && !backward && !exact;
    return false;
  }();

  static constexpr int tensor_count = sizeof(Formula::tensors) / sizeof(TensorSpec);
  static constexpr Role written = backward ? Role::gradient : Role::output;

  // A bit for each type that some tensor has whatever the case's type is.
  static constexpr unsigned own_types = [] {
    unsigned set = 0;
    for (const TensorSpec& spec : Formula::tensors)
      if (spec.has_type) set |= 1u << static_cast<unsigned>(spec.type);
    return set;
  }();

  // f.operator()<type>() for the type of `spec`, which is known once the formula's lambdas are inlined.
  template <class F> static __forceinline__ auto with_type(const TensorSpec& spec, const F& f) {
    if constexpr (own_types != 0)
      if (spec.has_type) return with_own_type<0>(spec.type, f);
    return f.template operator()<storage>();
  }

 private:
  template <int at, class F> static __forceinline__ auto with_own_type(DType of, const F& f) {
    constexpr DType candidate = static_cast<DType>(at);
    if constexpr (own_types >> (at + 1) == 0) {
      return f.template operator()<candidate>();
    } else {
      if constexpr ((own_types >> at & 1) != 0)
        if (of == candidate) return f.template operator()<candidate>();
      return with_own_type<at + 1>(of, f);
    }
  }
};

} // namespace assay::screen
