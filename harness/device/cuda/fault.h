// From what the driver says of a launch to what a kernel did wrong.
#pragma once

#include "harness/device/cuda/driver.h"
#include "harness/numerics/signature.h"

#include <optional>

namespace assay::cuda {

// The kind of fault that ended a kernel, by the driver's status (cuda.h, CUresult). `traps`: its PTX holds a
// trap, which the driver tells as an unspecified launch failure. Nothing: no fault of a kernel.
std::optional<Kind> kind_of(Status status, bool traps);

// The same of a launch that was refused.
bool is_refused_launch(Status status);

} // namespace assay::cuda
