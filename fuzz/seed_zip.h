// The zip of seeds beside a fuzz target, as OSS-Fuzz and ClusterFuzz name it: <target>_seed_corpus.zip.
#pragma once

#include "harness/base/error.h"

#include <cstddef>
#include <filesystem>

namespace assay {

inline constexpr std::size_t most_seeds = 10'000; // of one zip

// Writes every file of the zip into the folder, named by its content, as corpora are; what is larger than a
// case can be is left out. Returns how many were written. A zip that cannot be read is a user error.
Result<std::size_t> unpack_seeds(const std::filesystem::path& zip, const std::filesystem::path& folder);

} // namespace assay
