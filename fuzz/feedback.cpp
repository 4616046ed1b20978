#include "fuzz/feedback.h"

#include "fuzz/status.h"
#include "harness/base/hash.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

namespace assay::feedback {

namespace {

constexpr std::size_t compare_slots = 8192, ratio_slots = 4096, shape_slots = 4096;

struct Counters {
  std::array<std::uint8_t, max_seen_blocks> blocks;
  std::array<std::uint8_t, compare_slots> compares;
  std::array<std::uint8_t, ratio_slots> ratios;
  std::array<std::uint8_t, shape_slots> shapes;
};

// libFuzzer finds every object of this section and reads it after each case.
__attribute__((section("__libfuzzer_extra_counters"))) Counters counters;

std::size_t blocks_in_use = 0; // so that clear() touches no more

std::uint64_t mix(std::uint64_t x) { // the finaliser of MurmurHash3
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
  return x ^ (x >> 33);
}

// What a comparison site has been given so far.
struct Site {
  std::uint64_t site = 0, a = 0, b = 0;
  bool seen = false, a_varies = false, b_varies = false;
};
std::array<Site, 1024> sites;

} // namespace

void clear() {
  std::memset(counters.blocks.data(), 0, blocks_in_use);
  counters.compares.fill(0);
  counters.ratios.fill(0);
  counters.shapes.fill(0);
}

void add_blocks(std::span<const std::uint8_t> device) {
  blocks_in_use = std::max(blocks_in_use, std::min(device.size(), counters.blocks.size()));
  for (std::size_t i = 0; i < device.size(); ++i)
    if (std::uint8_t& counter = counters.blocks[i % max_seen_blocks]; device[i] > counter)
      counter = device[i];
}

// Half an octave a level; 2^-16 and below is level 0, the threshold itself level 32, 2^16 and above level 63.
void add_ratios(std::span<const TensorReport> tensors) {
  for (const TensorReport& tensor : tensors) {
    const double ratio = tensor.ratio();
    if (tensor.exact || !tensor.gate_valid() || !(ratio > 0)) continue;
    const double octaves = std::isfinite(ratio) ? std::log2(ratio) : 16.0;
    const auto level = static_cast<std::size_t>(std::clamp(std::floor(octaves * 2) + 32, 0.0, 63.0));
    const std::size_t slot = mix(content_hash64(tensor.name) + static_cast<std::uint64_t>(tensor.dtype) * 2 +
                                 static_cast<std::uint64_t>(tensor.pass)) %
                             (ratio_slots / 64);
    std::fill_n(counters.ratios.begin() + static_cast<std::ptrdiff_t>(slot * 64), level + 1, std::uint8_t{1});
  }
}

void add_shape(const Case& test_case, std::span<const DimRange> dims) {
  const std::uint64_t kind =
      static_cast<std::uint64_t>(test_case.dtype) * 2 + static_cast<std::uint64_t>(test_case.pass);
  const auto set = [&](std::size_t dim, std::uint64_t tile, std::uint64_t relation) {
    counters.shapes[mix(((kind * 64 + dim) << 40) + (tile << 8) + relation) % shape_slots] = 1;
  };
  for (const auto& [name, size] : test_case.dims) {
    const auto range = std::ranges::find(dims, name, &DimRange::name);
    if (range == dims.end() || range->pinned()) continue;
    const auto dim = static_cast<std::size_t>(range - dims.begin());
    set(dim, 0, static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(size))));
    if (size == range->min) set(dim, 0, 100);
    if (size == range->max) set(dim, 0, 101);
    for (const std::int64_t tile : range->near) {
      if (tile < 2) continue;
      const std::int64_t rest = size % tile;
      const std::uint64_t edge = rest == 0 ? 0 : rest == 1 ? 1 : rest == tile - 1 ? 2 : 3;
      const auto tiles = static_cast<std::uint64_t>(std::min<std::int64_t>(size / tile, 3));
      set(dim, static_cast<std::uint64_t>(tile), tiles * 4 + edge);
    }
  }
}

void on_compare(std::uint64_t site, std::uint64_t a, std::uint64_t b, unsigned bits) {
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  a &= mask;
  b &= mask;
  const std::uint64_t distance = a > b ? a - b : b - a;
  const std::uint64_t place = mix(site);
  counters.compares[(place + static_cast<std::uint64_t>(std::bit_width(distance))) % compare_slots] = 1;
  Site& known = sites[place % sites.size()];
  if (!known.seen) {
    known = {site, a, b, true, false, false};
  } else if (known.site == site) {
    known.a_varies = known.a_varies || known.a != a;
    known.b_varies = known.b_varies || known.b != b;
  }
}

std::vector<std::int64_t> learnt_sizes() {
  std::set<std::int64_t> sizes;
  for (const Site& site : sites) {
    if (!site.seen || site.a_varies == site.b_varies) continue;
    const std::uint64_t value = site.a_varies ? site.b : site.a;
    if (value >= 2 && value <= (1u << 24)) sizes.insert(static_cast<std::int64_t>(value));
  }
  return {sizes.begin(), sizes.end()};
}

} // namespace assay::feedback
