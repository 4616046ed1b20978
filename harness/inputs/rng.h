// The search's own random numbers: a Philox4x32-10 stream, the same for the same seed on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace assay {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t next();                                        // 64 random bits
  std::uint64_t below(std::uint64_t limit);                    // uniform in [0, limit); limit >= 1
  std::int64_t between(std::int64_t first, std::int64_t last); // uniform, both included
  bool chance(double probability);
  double unit(); // uniform in [0, 1), 53 bits

  template <class T> const T& pick(std::span<const T> from) { return from[below(from.size())]; }

 private:
  std::uint64_t seed_;
  std::uint64_t block_ = 0;
  std::array<std::uint64_t, 2> words_{};
  unsigned left_ = 0;
};

} // namespace assay
