// What shows whether a formula means what it says, before any kernel is judged by it.
#pragma once

#include "harness/ops/op.h"

#include <optional>
#include <string>

namespace assay {

struct GradientFault {
  std::string tensor;  // the gradient
  std::string message; // one line
};

// Evaluates forward and backward once on a small problem: a formula that leaves elements out, or a tensor's
// bounds, fails its own checks (harness/ops/evaluation.cpp, line.h).
void try_formulas(const Op& op);

// Whether each gradient is the derivative of forward: central differences of the golden in float64, on a few
// elements. Wrong is what is off by more than a thousandth on three draws of the inputs, so that a kink of
// the formula beside one of them accuses nobody.
std::optional<GradientFault> gradient_fault(const Op& op);

} // namespace assay
