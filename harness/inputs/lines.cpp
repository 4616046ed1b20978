#include "harness/inputs/lines.h"

#include "harness/base/check.h"
#include "harness/inputs/exact_math.h"
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

void legal_line(const Domain& domain, DType storage, std::int64_t limit, const ElementContext& context,
                std::uint64_t line, std::span<double> out) {
  using element::below;
  using element::unit;
  const std::uint64_t first = line * static_cast<std::uint64_t>(context.line_length);
  const PhiloxBlock of_line = philox(context.seed, line, line_stream);
  const auto share = context.p[0];
  const auto wide_below = [](const PhiloxBlock& block, std::int64_t count) {
    const std::uint64_t word = (std::uint64_t{block.word[1]} << 32) | block.word[2];
    return static_cast<double>(static_cast<std::uint64_t>(
        (static_cast<unsigned __int128>(word) * static_cast<std::uint64_t>(count)) >> 64));
  };
  const double repeated = limit > 0 ? wide_below(philox(context.seed, 0, line_stream), limit) : 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const PhiloxBlock block = philox(context.seed, first + i, second_stream);
    const bool edge = unit(block.word[0]) < share;
    const std::uint32_t choice = block.word[3];
    switch (domain.kind) {
    case Domain::Kind::index:
    case Domain::Kind::target: {
      const double edges[] = {0, static_cast<double>(limit - 1), repeated, -100};
      const bool ignored = domain.kind == Domain::Kind::target;
      out[i] = edge ? edges[choice % (ignored ? 4 : 3)] : wide_below(block, limit);
      break;
    }
    case Domain::Kind::boolean: { // an edge is a whole line: nothing, all, only the first, only the last
      const bool whole = unit(of_line.word[0]) < share;
      const bool modes[] = {false, true, i == 0, i + 1 == out.size()};
      out[i] = whole ? modes[of_line.word[1] % 4] : choice & 1;
      break;
    }
    case Domain::Kind::code: {
      const double low = storage == DType::u8 ? 0 : -127;
      const double high = storage == DType::u8 ? 255 : 127;
      const double edges[] = {low, high, 0, 1};
      out[i] = edge ? edges[choice % 4] : low + wide_below(block, static_cast<std::int64_t>(high - low) + 1);
      break;
    }
    case Domain::Kind::scale: {
      const double edges[] = {1, context.min_normal, element::power_of_two(-20), element::power_of_two(10)};
      const int exponent = static_cast<int>(below(block.word[1], 25)) - 16;
      out[i] = edge ? edges[choice % 4] : element::power_of_two(exponent) * (1.0 + unit(block.word[2]));
      break;
    }
    default:
      ASSAY_CHECK(false, "legal is not for this domain");
    }
  }
}

void rotary_line(DistributionKind kind, const ElementContext& context, std::uint64_t line,
                 std::span<double> out) {
  const std::size_t head_dim = out.size() / 2;
  const std::size_t half = head_dim / 2;
  const auto position = static_cast<double>(line);
  for (std::size_t i = 0; i < head_dim; ++i) {
    double angle = 0; // position * 10000^(-2i / head_dim), the same for i and i + half; log2 10000 = 13.28...
    if (kind == DistributionKind::rotary) {
      const double exponent =
          2.0 * static_cast<double>(i % std::max<std::size_t>(half, 1)) / static_cast<double>(head_dim);
      angle = position * exact_exp2(-13.287712379549449 * exponent);
    } else { // a frequency of its own for every i, and a seeded phase
      const double exponent = static_cast<double>(i) / static_cast<double>(head_dim);
      angle = position * exact_exp2(-13.287712379549449 * exponent) +
              6.2831853071795865 * element::unit(philox(context.seed, i, line_stream).word[0]);
    }
    const SinCos value = exact_sin_cos(angle);
    out[i] = value.cos;
    if (head_dim + i < out.size()) out[head_dim + i] = value.sin;
  }
}

} // namespace assay
