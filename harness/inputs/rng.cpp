#include "harness/inputs/rng.h"

#include "harness/base/check.h"
#include "harness/inputs/philox.h"

namespace assay {

namespace {
constexpr std::uint32_t search_stream = 3; // apart from the streams that fill tensors
}

std::uint64_t Rng::next() {
  if (left_ == 0) {
    const PhiloxBlock block = philox(seed_, block_++, search_stream);
    words_ = {(std::uint64_t{block.word[1]} << 32) | block.word[0],
              (std::uint64_t{block.word[3]} << 32) | block.word[2]};
    left_ = 2;
  }
  return words_[--left_];
}

std::uint64_t Rng::below(std::uint64_t limit) {
  ASSAY_CHECK(limit >= 1, "no number below 0");
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * limit) >> 64);
}

std::int64_t Rng::between(std::int64_t first, std::int64_t last) {
  ASSAY_CHECK(first <= last, "no number from {} to {}", first, last);
  return first + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(last - first) + 1));
}

double Rng::unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

bool Rng::chance(double probability) { return unit() < probability; }

} // namespace assay
