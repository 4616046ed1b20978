// Reads what mlir-opt prints: the PTX in a module that gpu-module-to-binary made, and its diagnostics.
#pragma once

#include "harness/base/error.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct MlirBinary {
  std::string module; // of the gpu.module it was made from
  std::string ptx;    // its file directives name `source` in place of <stdin>
};

// One for each gpu.binary that holds PTX.
std::vector<MlirBinary> mlir_binaries(std::string_view out, const std::string& source);

// The first error of a failed run, as a user error. Where it only says that something was left over when the
// module was translated, the first operation that no pass lowered, and its line.
Error first_mlir_error(std::string_view log, const std::string& source);

} // namespace assay
