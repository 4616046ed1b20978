// JUnit XML of a replay, for CI: one test case a stored case.
#pragma once

#include "harness/run/replay.h"

#include <span>
#include <string>

namespace assay {

std::string junit_xml(std::span<const ReplayOutcome> outcomes);

} // namespace assay
