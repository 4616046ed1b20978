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

// Evaluates forward and backward, each algorithm, by every kind of number on small problems: ordinary values,
// zeros, and the largest, smallest and special ones that are legal. A formula that leaves elements out, or a
// tensor's bounds, fails its own checks (harness/ops/evaluation.cpp, line.h); one that crashes, or never
// ends, is its caller's to catch (operator_guard.h).
void try_formulas(const Op& op);

// Whether each gradient is the derivative of forward: central differences of the golden in float64, on a few
// elements. Wrong is what is off by more than a thousandth on three draws of the inputs, so that a kink of
// the formula beside one of them accuses nobody.
std::optional<GradientFault> gradient_fault(const Op& op);

} // namespace assay
