// Whether a suspect is a fault, or the reference was lucky on this input (method: section 7; 3 for bias, 6
// for ulp).
#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"
#include "harness/run/kernel.h"
#include "harness/run/trial.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay {

enum class JudgeMode : std::uint8_t {
  search,        // a suspect between envelope and rigorous bound is redrawn under 16 further seeds
  on_this_input, // minimizing and replaying: by envelope and bound alone
};

struct Confirmed {
  bool finding = false;
  double severity =
      0; // target_error / threshold'; an upper bound of it where the envelope explained the suspect
  double threshold =
      0; // threshold', in the kind's own unit: absolute error, representable values, ULP of bias
  double rigorous_bound = 0; // gate: at the worst element; infinity where none is known
  int evaluations = 0;       // legal evaluations behind the envelope
  std::string how;           // "above the rigorous bound 3.1e-07", "15 of 16 redraws above threshold'", ...
};

// Kinds gate, ulp and bias; and structure where every wrong element lies so near the overflow of its type
// that the reference's small errors may be all that makes it wrong (numerics/errors.h: Standing).
bool needs_confirmation(const Op& op, const Trial& trial, const Violation& violation);

// For each of `suspects` (violations of `trial` for which needs_confirmation holds) what became of it.
Result<std::vector<Confirmed>> confirm(Kernel& kernel, const Case& test_case, const Trial& trial,
                                       std::span<const Violation> suspects, JudgeMode mode);

// Of the inputs' bits: only redraws that differ in it are observations of their own.
std::uint64_t fingerprint(const Trial& trial);

// The case under the k-th further seed of every input: same shape, types and distributions.
Case redrawn(const Case& test_case, std::uint64_t k);

} // namespace assay
