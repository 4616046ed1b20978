// An operator from its formula: instantiates every instrument.
#pragma once

#include "harness/ops/evaluation.h"
#include "harness/ops/golden.h"
#include "harness/ops/op.h"
#include "harness/ops/perturbed.h"
#include "harness/ops/plain.h"
#include "harness/ops/rigorous.h"

#include <span>

namespace assay {

// The declarations of a formula (formula.h), optional ones by their defaults.
template <class Formula> Declarations declarations_of() {
  static constexpr const char* plain_only[] = {"plain"};
  Declarations d;
  d.name = Formula::name;
  d.dims = Formula::dims;
  d.tensors = Formula::tensors;
  d.algorithms = plain_only;
  d.has_backward = requires(Run<Plain<float, false>>& run) { Formula::backward(run); };
  if (d.has_backward) d.backward_algorithms = plain_only;
  if constexpr (requires { Formula::params; }) d.params = Formula::params;
  if constexpr (requires { Formula::algorithms; }) d.algorithms = Formula::algorithms;
  if constexpr (requires { Formula::backward_algorithms; })
    d.backward_algorithms = Formula::backward_algorithms;
  if constexpr (requires { Formula::elementwise; }) d.elementwise = Formula::elementwise;
  if constexpr (requires { Formula::exact; }) d.exact = Formula::exact;
  if constexpr (requires { Formula::reduces; }) d.reduces = Formula::reduces;
  if constexpr (requires { Formula::max_ulp_narrow; }) d.max_ulp_narrow = Formula::max_ulp_narrow;
  if constexpr (requires { Formula::max_ulp_f32; }) d.max_ulp_f32 = Formula::max_ulp_f32;
  return d;
}

template <class Formula> class FormulaOp final : public Op {
 public:
  const OpInfo& info() const override { return info_; }

  std::vector<Evaluated> evaluate(const Problem& problem, const Instrument& instrument) const override {
    Evaluation evaluation(declarations_, problem, instrument);
    if (problem.dtype == DType::f64) {
      with_arithmetic<double>(evaluation, problem.pass, instrument);
    } else {
      with_arithmetic<float>(evaluation, problem.pass, instrument);
    }
    return std::move(evaluation).finish();
  }

 private:
  template <class N> static void evaluate_in(Evaluation& evaluation, Pass kind) {
    Run<N> run = evaluation.run<N>();
    if constexpr (requires { Formula::backward(run); }) {
      if (kind == Pass::backward) return Formula::backward(run);
    }
    Formula::forward(run);
  }

  template <class Real>
  static void with_arithmetic(Evaluation& evaluation, Pass kind, const Instrument& instrument) {
    using Number = Instrument::Number;
    switch (instrument.number) {
    case Number::golden:
      return evaluate_in<Golden<std::is_same_v<Real, double>>>(evaluation, kind);
    case Number::rigorous:
      return evaluate_in<Rigorous<Real>>(evaluation, kind);
    case Number::noise:
      return evaluate_in<Noisy<Real>>(evaluation, kind);
    case Number::plain:
      break;
    }
    if (instrument.narrowed != 0) return evaluate_in<Narrow<Real>>(evaluation, kind);
    if (instrument.functions != Instrument::Functions::best)
      return evaluate_in<FunctionError<Real>>(evaluation, kind);
    if (instrument.contract) return evaluate_in<Plain<Real, true>>(evaluation, kind);
    return evaluate_in<Plain<Real, false>>(evaluation, kind);
  }

  Declarations declarations_ = declarations_of<Formula>();
  OpInfo info_ = make_info(declarations_);
};

// The one instance; each formula's is instantiated in one source file (see
// registry.cpp).
template <class Formula> const Op& op_of() {
  static const FormulaOp<Formula> op;
  return op;
}

} // namespace assay
