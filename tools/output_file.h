// Files and folders that a user asks for, checked before the work whose result they are to hold. One rule for
// all commands: the folder that a file lies in has to be there; a folder to write into may be missing itself,
// and is then made, but the one that it lies in has to be there. What can be seen beforehand to be impossible
// is the user's error; what goes wrong while writing, a full disk say, is the machine's.
#pragma once

#include "harness/base/error.h"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace assay {

// Whether `file` could be written now. An empty path is fine: no file was asked for. A case, a manifest,
// arrays or a source that are there are somebody's, and not written over: by the extension, but where that is
// `own`.
Result<void> check_output_file(const std::filesystem::path& file, std::string_view own = {});
// The same of several, no two of which may be one file.
Result<void> check_output_files(std::span<const std::string> files);

// Whether files could be written into `folder` now, or once it is made.
Result<void> check_output_folder(const std::filesystem::path& folder);
// Makes it where it is missing, and says so on standard error.
Result<void> make_output_folder(const std::filesystem::path& folder);

// Writes it as base/files.h does; an empty path is none.
Result<void> write_output(const std::filesystem::path& file, std::string_view bytes);

} // namespace assay
