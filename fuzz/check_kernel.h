// Whether a kernel can be tried at all, before any time is spent on making machine code of it.
#pragma once

#include "harness/base/error.h"

#include <filesystem>
#include <string>

namespace assay {

// Compiles the source for each declared type, checks the launches against it and draws a case of each type.
// The error is what a search would meet: the manifest's, the source's, or what the device lacks.
Result<void> check_kernel(const std::filesystem::path& manifest, const std::string& device);

} // namespace assay
