// Two bytes again and again: what memory holds that nobody wrote, and what stands around every buffer. A
// pattern is anchored at even offsets of the arena.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::cuda {

using Pattern = std::uint16_t;

// Each memory has a pair of its own, so that what was copied out of one is not taken for another's. The first
// is a NaN in f16, bf16, f32 and f64 and a wild index, the second a large finite number and a wild index;
// they differ in every byte.
struct PatternPair {
  Pattern first, second;
  constexpr Pattern of(bool second_one) const { return second_one ? second : first; }
};
inline constexpr PatternPair output_poison{0x7ff7, 0x5a3c};
inline constexpr PatternPair scratch_poison{0x7ff5, 0x5b3a}; // gaps between an input's elements too
inline constexpr PatternPair guard_pattern{0x7ff3, 0x5939};
inline constexpr PatternPair shared_pattern{0x7ff1, 0x5838}; // shared memory before a launch

inline constexpr std::size_t no_mismatch = SIZE_MAX;

// base is the arena's start; [from, to) are offsets in it.
void fill_pattern(std::byte* base, std::size_t from, std::size_t to, Pattern pattern);
// The first offset in [from, to) that does not hold the pattern, or no_mismatch.
std::size_t first_mismatch(const std::byte* base, std::size_t from, std::size_t to, Pattern pattern);
// Behind it, how many bytes up to `to` do not hold it.
std::size_t count_mismatches(const std::byte* base, std::size_t from, std::size_t to, Pattern pattern);

} // namespace assay::cuda
