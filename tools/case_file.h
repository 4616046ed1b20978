// A case on disk and the kernel it names.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace assay {

Result<Case> load_case(const std::filesystem::path& path);

// The case files that PATH arguments name: a file is itself; a folder is every *.case below it, sorted, but
// for the original of a case that has been minimized beside it. A folder without any, or one that cannot be
// read: user errors.
Result<std::vector<std::filesystem::path>> case_files(std::span<const std::string> paths);

} // namespace assay
