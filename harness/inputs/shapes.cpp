#include "harness/inputs/shapes.h"

#include <algorithm>
#include <array>
#include <bit>

namespace assay {

namespace {

constexpr std::array<std::int64_t, 24> primes{2,  3,  5,   7,   11,  13,  17,  19,  23,   31,   37,   61,
                                              67, 97, 127, 131, 251, 257, 509, 521, 1021, 1031, 2039, 4093};
constexpr std::array<std::int64_t, 6> index_limits{32767, 32768, 32769, 65535, 65536, 65537};

std::int64_t draw_anything(const DimRange& range, Rng& rng) {
  const auto width = static_cast<std::uint64_t>(range.max - range.min);
  const int bits = static_cast<int>(rng.below(static_cast<std::uint64_t>(std::bit_width(width)) + 1));
  const std::uint64_t step = rng.below(std::uint64_t{1} << bits);
  return range.min + static_cast<std::int64_t>(std::min(step, width));
}

} // namespace

std::int64_t legal_size(const DimRange& range, std::int64_t size) {
  size = std::clamp(size, range.min, range.max);
  const std::int64_t down = size - size % range.multiple_of;
  if (down >= range.min) return down;
  return down + range.multiple_of <= range.max ? down + range.multiple_of : range.min;
}

bool is_legal_size(const DimRange& range, std::int64_t size) {
  return size >= range.min && size <= range.max && size % range.multiple_of == 0;
}

std::int64_t draw_size(const DimRange& range, std::span<const std::int64_t> learnt, Rng& rng) {
  if (range.pinned()) return range.min;
  std::int64_t size = 0;
  const std::uint64_t kind = rng.below(100);
  if (kind < 28) {
    size = range.min + rng.between(0, 4) * range.multiple_of;
  } else if (kind < 55 && !range.near.empty()) {
    const std::int64_t tile = rng.pick(std::span<const std::int64_t>(range.near));
    const std::int64_t times = rng.chance(0.6) ? 1 : rng.between(1, 4);
    if (__builtin_mul_overflow(tile, times, &size)) size = tile;
    size += rng.between(-2, 2);
  } else if (kind < 63 && !learnt.empty()) {
    size = rng.pick(learnt) + rng.between(-1, 1);
  } else if (kind < 77) {
    const int top = std::bit_width(static_cast<std::uint64_t>(range.max));
    size = (std::int64_t{1} << rng.below(static_cast<std::uint64_t>(std::max(top, 1)))) + rng.between(-1, 1);
  } else if (kind < 82) {
    size = rng.pick(std::span<const std::int64_t>(primes));
  } else if (kind < 85 && !range.production.empty()) {
    size = rng.pick(std::span<const std::int64_t>(range.production));
  } else if (kind < 87 && range.max >= index_limits.front()) {
    size = rng.pick(std::span<const std::int64_t>(index_limits));
  } else {
    size = draw_anything(range, rng);
  }
  return legal_size(range, size);
}

std::vector<std::int64_t> corner_sizes(const DimRange& range) {
  std::vector<std::int64_t> wanted{range.min, 1, 2, 3};
  for (const std::int64_t tile : range.near)
    for (const std::int64_t multiple : {tile, 2 * tile})
      for (const std::int64_t step : {-range.multiple_of, std::int64_t{0}, range.multiple_of})
        wanted.push_back(multiple + step);
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : wanted)
    if (const std::int64_t legal = legal_size(range, size); size <= range.max + range.multiple_of)
      sizes.push_back(legal);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<std::int64_t> limit_sizes(const DimRange& range) {
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : index_limits)
    if (is_legal_size(range, size)) sizes.push_back(size);
  sizes.push_back(legal_size(range, range.max));
  return sizes;
}

} // namespace assay
