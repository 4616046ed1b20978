// When a smaller case still shows the same fault: what a worker and `assay minimize` hand to the reducer.
#pragma once

#include "harness/reduce/minimize.h"
#include "harness/run/finding.h"
#include "harness/run/kernel.h"

#include <span>
#include <vector>

namespace assay {

// Of the findings of one case those that are no consequence of another: the first on each output of each
// pass. An output with NaN in the wrong place is also far off in its numbers and biased, and that tells
// nothing new.
std::vector<Finding> leading(std::span<const Finding> findings);

// The candidate's leading finding on the same output has the same signature, and a severity of at least
// kept_severity(). `kernel` must outlive the predicate.
ShouldKeep shows_same_fault(Kernel& kernel, const Finding& finding);

} // namespace assay
