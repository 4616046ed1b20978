// What a launch may ask for (CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability", 9.0).
#pragma once

#include "harness/device/cpu/runtime/engine.h"

#include <optional>
#include <string>

namespace assay::cpu {

inline constexpr std::uint64_t max_block_threads = 1024;
inline constexpr std::uint64_t max_block_dim[3] = {1024, 1024, 64};
inline constexpr std::uint64_t max_grid_dim[3] = {(std::uint64_t{1} << 31) - 1, 65535, 65535};
inline constexpr std::uint64_t max_static_shared = 48 << 10;
inline constexpr std::uint64_t max_shared = 227 << 10;

// What is wrong with the launch; nothing where it may run.
std::optional<std::string> broken_limit(const CompiledEntry& entry, const LaunchSpec& spec);

} // namespace assay::cpu
