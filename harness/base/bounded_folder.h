// A folder of files that can be made again, kept from growing for ever.
#pragma once

#include <cstdint>
#include <filesystem>

namespace assay {

// Where the regular files below `folder` have more than `bytes` together, removes those that were written
// first until three quarters are left. What cannot be read or removed stays. Returns how many were removed.
std::size_t keep_folder_below(const std::filesystem::path& folder, std::uint64_t bytes);

} // namespace assay
