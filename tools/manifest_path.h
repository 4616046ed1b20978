// Which manifest a user means.
#pragma once

#include "harness/base/error.h"

#include <filesystem>
#include <string>

namespace assay {

// A manifest's path, a folder that holds a kernel.toml, or the name of a folder below kernels/. None of them:
// a user error.
Result<std::filesystem::path> resolve_manifest(const std::string& argument);

} // namespace assay
