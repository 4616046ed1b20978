// The order of blocks and warps: integer arithmetic only, so that a seed means the same on every machine.
#pragma once

#include <cstdint>

namespace assay::cpu {

// SplitMix64 (Steele, Lea, Flood 2014).
class ScheduleRandom {
 public:
  explicit ScheduleRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint32_t
  below(std::uint32_t bound) { // bound > 0; the bias of at most bound / 2^32 does not matter here
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  std::uint64_t state_;
};

// A permutation of [0, count) without a table: a four-round Feistel network on the next even power of two,
// walked until it lands inside.
class Permutation {
 public:
  Permutation(std::uint64_t count, std::uint64_t seed);
  std::uint64_t at(std::uint64_t index) const;

 private:
  std::uint64_t count_;
  unsigned half_bits_;
  std::uint64_t keys_[4];
};

} // namespace assay::cpu
