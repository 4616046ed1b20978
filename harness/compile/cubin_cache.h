// Machine code on disk, by the PTX that it was made of.
#pragma once

#include "harness/base/content_cache.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

inline ContentCache cubin_cache(std::filesystem::path folder) { return {std::move(folder), "cubin"}; }

// The key of a PTX text for such a machine ("sm_90"). Made by a driver: of which version; by NVRTC, which
// makes both at once: 0.
std::string cubin_key(std::string_view ptx, std::string_view machine, int driver);

} // namespace assay
