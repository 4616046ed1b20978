// Compiled programs on disk, by content.
#pragma once

#include "harness/base/content_cache.h"

#include <string>
#include <string_view>

namespace assay::cuda {

inline ContentCache cubin_cache(std::filesystem::path folder) { return {std::move(folder), "cubin"}; }

// The key of a PTX text for a GPU of this compute capability under this driver.
std::string cubin_key(std::string_view ptx, int compute_major, int compute_minor, int driver);

} // namespace assay::cuda
