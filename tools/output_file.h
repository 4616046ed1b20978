// Files that a user asks for, checked before the work whose result they are to hold.
#pragma once

#include "harness/base/error.h"

#include <filesystem>
#include <string_view>

namespace assay {

// Whether `file` could be written now, its missing folders included; nothing is. An empty path is fine: no
// file was asked for. A user error otherwise.
Result<void> check_writable(const std::filesystem::path& file);

// Writes it as base/files.h does, and says on standard error which folders it made for it.
Result<void> write_output(const std::filesystem::path& file, std::string_view bytes);

} // namespace assay
