// The tables behind truth(): one function in MPFR for each "operator.tensor", by family.
#pragma once

#include "tests/ops/mp.h"
#include "tests/ops/problem.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::testing {

using Values = std::vector<Mp>;
using Truth = std::function<Values(const OwnedProblem&)>;
using TruthTable = std::map<std::string, Truth>;

void add_elementwise_truths(TruthTable& all); // activations, casts
void add_row_truths(TruthTable& all);         // reductions, softmaxes, norms, scans, losses
void add_tensor_truths(TruthTable& all);      // products, attention, convolution, rotation, scatter

// The tensor's elements, as they are stored.
Values exact(const OwnedProblem& p, std::string_view tensor);

// The largest value; log of the sum of exp(value - largest): together the log-sum-exp.
Mp largest_of(const Values& values);
Mp log_total_of(const Values& values);

} // namespace assay::testing
