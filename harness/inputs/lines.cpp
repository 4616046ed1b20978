#include "harness/inputs/lines.h"

#include "harness/base/check.h"
#include "harness/cases/distribution.h"
#include "harness/numerics/formats.h"

#include <algorithm>
#include <array>

namespace assay {

namespace {

constexpr std::size_t chunk = 256; // a multiple of 32

// The words of elements first, first + 1, ...
void words_from(std::uint64_t seed, std::uint64_t first, std::span<std::uint32_t> out) {
  std::array<std::uint32_t, 32> block;
  std::size_t done = 0;
  while (done < out.size()) {
    const std::uint64_t at = first + done;
    const std::size_t inside = at % 32;
    const std::size_t count = std::min<std::size_t>(32 - inside, out.size() - done);
    element_words_32(seed, at - inside, block.data());
    std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(inside), count,
                out.begin() + static_cast<std::ptrdiff_t>(done));
    done += count;
  }
}

// Fifteen in a hundred words lie in a tail; they are gathered, so that both parts run as straight loops.
void normals_of(std::span<const std::uint32_t> words, double* z) {
  std::array<std::uint32_t, chunk> tail_words;
  std::array<std::uint32_t, chunk> tail_places;
  std::array<double, chunk> tail_values;
  std::size_t tails = 0;
  for (std::size_t i = 0; i < words.size(); ++i) z[i] = element::normal_centre(words[i]);
  for (std::size_t i = 0; i < words.size(); ++i) {
    tail_words[tails] = words[i];
    tail_places[tails] = static_cast<std::uint32_t>(i);
    tails += element::in_tail(words[i]);
  }
  for (std::size_t i = 0; i < tails; ++i) tail_values[i] = element::normal_tail(tail_words[i]);
  for (std::size_t i = 0; i < tails; ++i) z[tail_places[i]] = tail_values[i];
}

} // namespace

void normal_values(std::uint64_t seed, std::uint64_t first, std::span<double> z) {
  std::array<std::uint32_t, chunk> words;
  for (std::size_t done = 0; done < z.size();) {
    const std::size_t count = std::min(chunk - (first + done) % 32, z.size() - done);
    const std::span<std::uint32_t> now = std::span(words).first(count);
    words_from(seed, first + done, now);
    normals_of(now, z.data() + done);
    done += count;
  }
}

void sequential_line(DistributionKind kind, const ElementContext& context, DType storage, std::uint64_t line,
                     std::span<double> out) {
  const std::uint64_t first = line * static_cast<std::uint64_t>(context.line_length);
  normal_values(context.seed, first, out);
  for (double& value : out) value *= context.p[0];
  switch (kind) {
  case DistributionKind::sorted_ascending:
    std::ranges::sort(out);
    return;
  case DistributionKind::sorted_descending:
    std::ranges::sort(out, std::greater<>());
    return;
  case DistributionKind::cancelling_pairs:
    for (std::size_t i = 1; i < out.size(); i += 2) out[i] = -out[i - 1];
    return;
  case DistributionKind::cancelling_sum: {
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bool cancel = (philox(context.seed, first + i, second_stream).word[0] & 3) == 0;
      const double wanted = cancel ? out[i] * 0x1p-10 - sum : out[i];
      out[i] = std::clamp(wanted, -context.largest, context.largest);
      sum += round_value(storage, out[i]);
    }
    return;
  }
  default:
    ASSAY_CHECK(false, "{} is not sequential", rule_of(kind).name);
  }
}

} // namespace assay
