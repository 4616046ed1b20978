// MLIR's own optimizer as a child process, so that the program neither links MLIR nor needs it to start.
#pragma once

#include "harness/base/child_process.h"
#include "harness/base/error.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// mlir-opt-22 along the PATH. None: an environment error that names the Debian package.
Result<std::filesystem::path> find_mlir_opt();

// Runs it on `input`, which it reads from its standard input and calls "<stdin>". Longer than 60 s of waiting
// is a user error.
Result<ChildRun> run_mlir_opt(const std::filesystem::path& tool, const std::vector<std::string>& args,
                              std::string_view input);

// Below one of the roots (see toolkit.h): the folder to name as MLIR's toolkit, in which
// nvvm/libdevice/libdevice.10.bc lies. Empty where there is none.
std::filesystem::path find_libdevice(const std::vector<std::filesystem::path>& roots);

} // namespace assay
