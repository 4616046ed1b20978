// The programs that fill the slots of a burst and look after their memory (device/fill.cu, device/memory.cu),
// the same for every operator. Their texts are part of this library.
#pragma once

#include "harness/base/error.h"
#include "harness/compile/ptx_source.h"

#include <filesystem>
#include <string>

namespace assay {

// Entries: assay_clear, assay_fill, assay_settle, assay_sum, assay_check, assay_compare. arch: as of
// CompileRequest. Environment error: no NVRTC.
Result<PtxSource> fill_source(const std::filesystem::path& cache_dir, const std::string& arch = "compute_90");

} // namespace assay
