#include "harness/device/cuda/patterns.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace assay::cuda {

namespace {

constexpr std::size_t block_bytes = 256;

std::byte byte_at(Pattern pattern, std::size_t offset) {
  return static_cast<std::byte>(pattern >> (8 * (offset & 1)));
}

// The pattern as it stands from an offset on.
std::array<std::byte, block_bytes> block_of(Pattern pattern, std::size_t offset) {
  std::array<std::byte, block_bytes> block;
  for (std::size_t i = 0; i < block_bytes; ++i) block[i] = byte_at(pattern, offset + i);
  return block;
}

} // namespace

void fill_pattern(std::byte* base, std::size_t from, std::size_t to, Pattern pattern) {
  const auto block = block_of(pattern, from);
  for (; from < to; from += block_bytes)
    std::memcpy(base + from, block.data(), std::min(block_bytes, to - from));
}

std::size_t first_mismatch(const std::byte* base, std::size_t from, std::size_t to, Pattern pattern) {
  const auto block = block_of(pattern, from);
  for (; from < to; from += block_bytes) {
    const std::size_t length = std::min(block_bytes, to - from);
    if (std::memcmp(base + from, block.data(), length) == 0) continue;
    for (std::size_t i = from; i < from + length; ++i)
      if (base[i] != byte_at(pattern, i)) return i;
  }
  return no_mismatch;
}

std::size_t count_mismatches(const std::byte* base, std::size_t from, std::size_t to, Pattern pattern) {
  std::size_t count = 0;
  for (std::size_t i = from; i < to; ++i) count += base[i] != byte_at(pattern, i);
  return count;
}

} // namespace assay::cuda
