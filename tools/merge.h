// libFuzzer's own merge, run as a process.
#pragma once

#include "harness/base/error.h"
#include "tools/worker_process.h"

#include <filesystem>
#include <span>
#include <string>

namespace assay {

// Adds to `into` the cases of `from` that set a feature (coverage, how close to the threshold, how the shape
// lies to the tiles) that nothing in it sets yet; small ones first. An empty `device` is the CPU. A worker
// that cannot work is the error that it told.
Result<void> merge_corpora(const std::filesystem::path& manifest, const std::string& device,
                           const std::filesystem::path& into, std::span<const std::string> from);

// The process that does it, for who watches it himself.
Result<WorkerCommand> merge_command(const std::filesystem::path& manifest, const std::string& device,
                                    const std::filesystem::path& into, std::span<const std::string> from,
                                    const std::filesystem::path& log);

} // namespace assay
