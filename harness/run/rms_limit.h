// rms_limit: the RMS error as a gate of its own, where the manifest declares it (method: section 3).
#pragma once

#include "harness/run/finding.h"
#include "harness/run/kernel.h"

#include <cstddef>
#include <optional>

namespace assay {

// The finding about trial.tensors[i], if there is one: the target's RMS error is above rms_limit times the
// reference's, and above rms_limit times that of every legal evaluation of the formula on this input.
std::optional<Finding> rms_finding(const Kernel& kernel, const Case& test_case, const Trial& trial,
                                   std::size_t i);

} // namespace assay
