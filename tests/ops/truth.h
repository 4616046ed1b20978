// The plain definition of each operator in MPFR: one function a tensor, straight from its formula.
#pragma once

#include "tests/ops/mp.h"
#include "tests/ops/problem.h"

#include <vector>

namespace assay::testing {

// The true values of one output or gradient of `p`.
std::vector<Mp> truth(const OwnedProblem& p, std::string_view tensor);

// Whether truth() knows this operator.
bool has_truth(std::string_view op);

} // namespace assay::testing
