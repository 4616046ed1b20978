#include "harness/device/cpu/runtime/random.h"

#include <algorithm>
#include <bit>

namespace assay::cpu {

Permutation::Permutation(std::uint64_t count, std::uint64_t seed) : count_(count) {
  half_bits_ = (static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(count, 2) - 1)) + 1) / 2;
  ScheduleRandom random(seed);
  for (std::uint64_t& key : keys_) key = random.next();
}

std::uint64_t Permutation::at(std::uint64_t index) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  do {
    std::uint64_t left = index >> half_bits_, right = index & mask;
    for (const std::uint64_t key : keys_) {
      std::uint64_t mixed = (right ^ key) * 0xff51afd7ed558ccdu;
      mixed ^= mixed >> 33;
      mixed *= 0xc4ceb9fe1a85ec53u;
      const std::uint64_t next = left ^ ((mixed >> 29) & mask);
      left = right;
      right = next;
    }
    index = (left << half_bits_) | right;
  } while (index >= count_);
  return index;
}

} // namespace assay::cpu
