// The verdict on one case: a trial, then the confirmation of what it suspects (method: sections 7 and 8).
#pragma once

#include "harness/run/confirm.h"
#include "harness/run/finding.h"
#include "harness/run/trial.h"

#include <optional>
#include <string>
#include <vector>

namespace assay {

struct JudgeOptions {
  JudgeMode mode = JudgeMode::search;
  // Further runs under other schedules, compared bit for bit: -1 is the rule of method section 8 (one more
  // for a declared sample of the cases and for every suspect; seven more where the kernel has atomics or is
  // declared nondeterministic).
  int repeats = -1;
};

// A suspect that confirmation explained: the reference was lucky on this input.
struct LuckyReference {
  Violation violation;
  double severity = 0; // target_error / threshold'; at most 1, or above it with redraws that noise explains
  std::string why;
};

struct Judgement {
  Trial trial;
  std::vector<Finding> findings; // in the order of Kind, at most one a signature
  std::vector<LuckyReference> lucky;
  bool inconclusive = false; // some tensor's gate is not valid here, and nothing else was wrong with it
};

// User errors: those of Kernel::plan. Environment errors: the device's.
Result<Judgement> judge(Kernel& kernel, const Case& test_case, const JudgeOptions& options = {});

// The severity with which the case shows `signature` (its type apart), or nullopt where it does not; a case
// that cannot run at all does not. This is what minimizing asks of every candidate.
std::optional<double> shows(Kernel& kernel, const Case& test_case, const Signature& signature);

} // namespace assay
