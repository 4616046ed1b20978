// Shrinks a failing case while a predicate says that it still fails in the same way. It knows no device and
// no operator: candidates come from inputs/space.h, the measure from cases/order.h, the verdict from the
// caller.
#pragma once

#include "harness/cases/case.h"
#include "harness/inputs/space.h"

#include <chrono>
#include <cstddef>
#include <functional>

namespace assay {

// Whether a candidate shows the same fault: same signature (its type apart) and a severity of at least
// kept_severity(original's).
using ShouldKeep = std::function<bool(const Case&)>;

// The severity that every step must keep, so that shrinking cannot slide from a gross fault into luck
// (method: 7).
double kept_severity(double original);

struct MinimizeLimits {
  std::chrono::milliseconds time{5000};
  std::size_t runs = 20000; // calls of the predicate
};

struct Minimized {
  Case test_case;        // the failing case itself where nothing simpler fails
  std::size_t runs = 0;  // calls of the predicate
  std::size_t steps = 0; // of them, how many were kept
  bool complete = true;  // nothing simpler is left to try; false: a limit ended it
};

// Passes over the axes in the order of `Axis`; on each, the first candidate that is kept becomes the case and
// the axis starts over. Repeats until a whole round keeps nothing. Deterministic but for the time limit.
Minimized minimize(const Case& failing, const CaseSpace& space, const ShouldKeep& should_keep,
                   const MinimizeLimits& limits = {});

// How many elements of all the inputs a reader has to look at: overrides, and of each tensor or patch that is
// generated, the elements it generates. A zero or constant tensor counts none.
std::size_t elements_off_base(const Case& test_case, const CaseSpace& space);

} // namespace assay
