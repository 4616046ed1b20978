// The tests behind suspects.h: each looks for one kind of evidence and says what it saw.
#pragma once

#include "harness/numerics/causes.h"
#include "harness/run/failing.h"
#include "harness/run/finding.h"
#include "harness/run/kernel.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay {

// What the tests look at: the finding's own case where it shows wrong numbers, then richer ones that do, and
// those that do not.
struct Scene {
  Kernel& kernel;
  const Finding& finding;
  std::vector<FailingTrial> trials;
  std::vector<FailingTrial> right;
};

using Evidences = std::vector<CauseEvidence>;

// Formulas that are wrong in one way (accumulators or intermediates narrowed, no maximum, one-pass variance,
// an order of summing that is not among the legal ones), and how much of the target's error each accounts
// for.
Evidences suspect_formulas(const Scene& scene);

// Which inputs move which outputs: elements are replaced one at a time, and golden and target must be moved
// alike. Where an element that the operator reads is ignored here and there, or one moves what it must not,
// indices or masks are wrong; a whole tensor that is ignored off the diagonal is a term that is missing.
Evidences suspect_influence(const Scene& scene);

// At which sizes it fails: not at multiples of a tile.
Evidences suspect_sizes(const Scene& scene);

// The same kernel compiled without what makes it fast, with exact functions for intrinsics, with another eps;
// and the same sizes with harmless inputs.
Evidences suspect_variants(const Scene& scene);

// Errors in proportion to what the formula's functions may cost.
Evidences suspect_functions(const Scene& scene);

// The factor by which the golden must be multiplied to give the target wherever it is judged; nullopt where
// none does.
std::optional<double> constant_factor(std::span<const FailingTrial> trials);

// A gradient beside its forward pass: a constant factor, or right outputs and nothing else to explain it.
Evidences suspect_backward(const Scene& scene);

// Bits that differ from run to run: an order of summing where every run is within what legal orders allow.
Evidences suspect_order(Kernel& kernel, const Finding& finding);

} // namespace assay
