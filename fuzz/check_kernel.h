// Whether a kernel can be tried at all, before any time is spent on making machine code of it.
#pragma once

#include "harness/base/error.h"
#include "harness/device/device.h"

#include <filesystem>

namespace assay {

// Compiles the source for each declared type, checks the launches against it and draws a case of each type.
// The error is what a search would meet: the manifest's, the source's, or what the device lacks. device: a
// loading one (open_device.h) is enough.
Result<void> check_kernel(const std::filesystem::path& manifest, Device& device);

} // namespace assay
