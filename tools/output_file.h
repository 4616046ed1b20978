// Files that a user asks for, checked before the work whose result they are to hold.
#pragma once

#include "harness/base/error.h"

#include <filesystem>

namespace assay {

// Whether `file` could be written now, its missing folders included; nothing is. An empty path is fine: no
// file was asked for. A user error otherwise.
Result<void> check_writable(const std::filesystem::path& file);

} // namespace assay
