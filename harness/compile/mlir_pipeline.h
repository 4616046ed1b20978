// The passes that lower a module in the gpu dialect to PTX, as mlir-opt's --pass-pipeline takes them.
#pragma once

#include "harness/base/error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

// The passes of MLIR's gpu-lower-to-nvvm-pipeline that concern device code, one that keeps source lines, and
// one for the vector operations that it leaves (transfer_read).
// `options` are the manifest's, for the file `source`:
//   PASS, PASS{option=value}, gpu.module(PASS)   passes that run before the lowering, in order
//   chip=sm_90 features=+ptx80 opt-level=2       of the target
//   bare-pointers=true                           memrefs of static shape are passed as one pointer
//   pipeline=builtin.module(...)                 in place of all this; ends in
//   gpu-module-to-binary{format=isa}
// An unknown KEY=VALUE is a user error. `arch` ("compute_90") names the chip where no option does; `toolkit`
// holds libdevice and may be empty.
Result<std::string> mlir_pipeline(const std::vector<std::string>& options, const std::string& arch,
                                  const std::filesystem::path& toolkit, const std::string& source);

} // namespace assay
