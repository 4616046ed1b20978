// Whole files in and out. Writing is atomic and durable: a reader sees the old file or the new one, never a
// part.
#pragma once

#include "harness/base/error.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

// The whole file. Missing, unreadable, no regular file, or larger than max_bytes: a user error that names it.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t max_bytes = std::size_t{64} << 20);

// Writes a temporary file beside path, fsyncs it, renames it over path and fsyncs the folder. Creates missing
// parent folders. Links are followed; a device or a pipe is written into instead. On failure the old file is
// untouched and no temporary file stays: an environment error.
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);

} // namespace assay
