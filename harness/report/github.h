// GitHub's workflow commands for a replay: an annotation at each case that is not as expected.
#pragma once

#include "harness/run/replay.h"

#include <span>
#include <string>

namespace assay {

// One line a case that is not as expected, at the kernel's source line where the fault has one, else at the
// case's own line; a line for each note of the others. Empty where all is well. Source: GitHub, "Workflow
// commands for GitHub Actions", error and notice messages.
std::string github_annotations(std::span<const ReplayOutcome> outcomes);

} // namespace assay
