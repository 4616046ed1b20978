// Copies under way (cp.async). What a warp issued is kept until it waits; a read before that finds memory
// that nobody wrote, and whatever other threads do to either place meanwhile is a race with the copy's end.
#pragma once

#include "harness/device/cpu/runtime/abi.h"

#include <array>
#include <cstdint>
#include <vector>

namespace assay::cpu {

inline constexpr unsigned max_copy_words = 4; // a lane
inline constexpr std::size_t max_copies_under_way =
    4096; // of a warp; then the oldest arrives, as it would have long since

struct CopyUnderWay {
  const CopyAccess* access = nullptr;
  std::uint32_t lanes = 0;
  std::array<std::uint32_t, max_copy_words> read{}; // lanes that read the word; the others copy a zero
  std::array<std::uint64_t, warp_lanes> source{}, target{};
  std::array<std::uint32_t, warp_lanes> group{}; // groups that the lane had committed before
  alignas(64) std::array<std::uint32_t, std::size_t{max_copy_words} * warp_lanes> values{};
  std::array<std::uint32_t, max_copy_words> undefined{};

  // Whether it will write the byte at this offset of shared memory.
  bool reaches(std::uint64_t offset) const;
};

struct Copies {
  std::vector<CopyUnderWay> under_way; // in the order of their issue
  std::array<std::uint32_t, warp_lanes> committed{};

  void clear() {
    under_way.clear();
    committed.fill(0);
  }
};

} // namespace assay::cpu
