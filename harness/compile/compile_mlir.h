// A module in the gpu dialect to PTX, by MLIR's optimizer.
#pragma once

#include "harness/compile/compile.h"
#include "harness/compile/compile_cache.h"

namespace assay {

// compile() for an .mlir source; errors and caching as there.
Result<PtxSource> compile_mlir(const CompileRequest& request, const std::filesystem::path& cache_dir,
                               CompileReport& report);

} // namespace assay
