// What a launch may ask for.
#pragma once

#include "harness/device/device.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace assay {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", 9.0.
struct LaunchLimits {
  std::array<std::uint64_t, 3> grid{(std::uint64_t{1} << 31) - 1, 65535, 65535};
  std::array<std::uint64_t, 3> block{1024, 1024, 64};
  std::uint64_t block_threads = 1024;
  std::uint64_t static_shared = 48 << 10;
  std::uint64_t shared = 227 << 10; // static and dynamic together
};

// What is wrong with the launch; nothing where it may run.
std::optional<std::string> broken_limit(const EntryInfo& entry, const LaunchSpec& spec,
                                        const LaunchLimits& limits = {});

} // namespace assay
