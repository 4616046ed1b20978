#include "harness/numerics/error_sum.h"

#include "harness/base/check.h"
#include "harness/base/parallel.h"
#include "harness/numerics/bias.h"
#include "harness/numerics/formats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace assay {

namespace {

constexpr std::size_t block = 1024;
constexpr double most = std::numeric_limits<double>::max();

// ulp.h's, of types whose smallest spacing is a normal double; this one vectorises.
double spacing_of(const Format& format, double x) {
  const auto exponent = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(std::fabs(x)) >> 52);
  const auto biased = std::min<std::int64_t>(exponent, format.max_exponent + 1023) - format.precision + 1;
  const double normal = std::bit_cast<double>(static_cast<std::uint64_t>(biased) << 52);
  return std::fabs(x) >= format.min_normal ? normal : format.min_subnormal;
}

// Of at most `block` elements from `begin` on.
ErrorSum sum_of_block(const Comparands& c, std::span<const double> values, double least, std::size_t begin,
                      std::size_t count) {
  const Format format = format_of(c.dtype);
  std::array<double, block> rounded, size, low{}, error{};
  std::array<std::uint8_t, block> overflows{};
  const std::span<const double> golden = c.golden.subspan(begin, count);
  if (!c.golden_low.empty()) std::ranges::copy(c.golden_low.subspan(begin, count), low.begin());
  if (!c.formula_overflows.empty())
    std::ranges::copy(c.formula_overflows.subspan(begin, count), overflows.begin());
  std::ranges::copy(c.magnitude.empty() ? golden : c.magnitude.subspan(begin, count), size.begin());
  const std::span<const double> lows = std::span(low).first(c.golden_low.empty() ? 0 : count);
  round_values(c.dtype, golden, lows, std::span(rounded).first(count));
  const double *const reference = c.reference.data() + begin, *const target = c.target.data() + begin,
                      *const value = values.data() + begin;
  ErrorSum result;
  for (std::size_t i = 0; i < count; ++i) {
    const double g = golden[i], t = target[i], r = reference[i], v = value[i];
    const double spacing = spacing_of(format, g), magnitude = std::fabs(g);
    const double to_tie = spacing / 2 - std::fabs((rounded[i] - g) - low[i]);
    const bool finite =
        std::fabs(rounded[i]) <= most && std::fabs(r) <= most && std::fabs(t) <= most && std::fabs(v) <= most;
    const bool rounds = magnitude <= format.largest && magnitude >= least && (rounded[i] != g || low[i] != 0);
    const bool takes = finite && rounds && 0x1p-24 * std::fabs(size[i]) < to_tie && overflows[i] == 0;
    const double off = (v - g - low[i]) / spacing;
    error[i] = takes ? (g < 0 ? -off : off) : 0;
    result.count += takes;
  }
  std::array<double, 8> lanes{};
  for (std::size_t i = 0; i < block; i += lanes.size())
    for (std::size_t k = 0; k < lanes.size(); ++k) lanes[k] += error[i + k];
  for (const double lane : lanes) result.sum += lane;
  return result;
}

} // namespace

ErrorSum sum_of_errors(const Comparands& comparands, std::span<const double> values, double least) {
  ASSAY_CHECK(bias_applies(comparands.dtype), "no bias is looked for in {}", name_of(comparands.dtype));
  const std::size_t count = comparands.golden.size();
  std::vector<ErrorSum> blocks((count + block - 1) / block);
  in_ranges(blocks.size(), least_elements / block, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k)
      blocks[k] = sum_of_block(comparands, values, least, k * block, std::min(block, count - k * block));
  });
  ErrorSum all;
  for (const ErrorSum& one : blocks) {
    all.count += one.count;
    all.sum += one.sum;
  }
  return all;
}

} // namespace assay
