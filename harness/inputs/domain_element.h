// What one element of a domain's own distributions is (legal, rotary, rotary_split), and how reals are mapped
// into a domain: bit for bit, on the host and by NVRTC with -fmad=false.
#pragma once

#include "harness/inputs/domain_kind.h"
#include "harness/inputs/exact_math.h"

#include <cmath>

namespace assay {

// A Domain as an element needs it.
struct DomainRule {
  DomainKind kind = DomainKind::real;
  std::int64_t limit = 0;   // index, target: what bounds it
  double low = 0, high = 0; // code: the smallest and the largest
};

namespace element {

ASSAY_ANYWHERE std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
#endif
}

// Uniform in [0, count), from two words of a block.
ASSAY_ANYWHERE double wide_below(const PhiloxBlock& block, std::int64_t count) {
  const std::uint64_t word = (std::uint64_t{block.word[1]} << 32) | block.word[2];
  return static_cast<double>(multiply_high(word, static_cast<std::uint64_t>(count)));
}

} // namespace element

// An element of `legal`: any value of the domain, its edges with probability p[0].
ASSAY_ANYWHERE double legal_element(const DomainRule& domain, const ElementContext& c,
                                    const ElementPlace& at) {
  using element::unit;
  const PhiloxBlock block = philox(c.seed, at.index, second_stream);
  const bool edge = unit(block.word[0]) < c.p[0];
  const std::uint32_t choice = block.word[3];
  switch (domain.kind) {
  case DomainKind::index:
  case DomainKind::target: {
    if (!edge) return element::wide_below(block, domain.limit);
    const std::uint32_t which = choice % (domain.kind == DomainKind::target ? 4 : 3);
    if (which == 0) return 0;
    if (which == 1) return static_cast<double>(domain.limit - 1);
    if (which == 3) return -100;
    return element::wide_below(philox(c.seed, 0, line_stream),
                               domain.limit); // the same place again and again
  }
  case DomainKind::boolean: { // an edge is a whole line: nothing, all, only the first, only the last
    const PhiloxBlock of_line = philox(c.seed, at.line, line_stream);
    if (!(unit(of_line.word[0]) < c.p[0])) return choice & 1;
    const std::uint32_t mode = of_line.word[1] % 4;
    const bool set =
        mode == 1 || (mode == 2 && at.place == 0) || (mode == 3 && at.place + 1 == c.line_length);
    return set ? 1 : 0;
  }
  case DomainKind::code: {
    if (!edge)
      return domain.low + element::wide_below(block, static_cast<std::int64_t>(domain.high - domain.low) + 1);
    const std::uint32_t which = choice % 4;
    return which == 0 ? domain.low : which == 1 ? domain.high : which == 2 ? 0 : 1;
  }
  case DomainKind::scale: {
    if (!edge) {
      const int exponent = static_cast<int>(element::below(block.word[1], 25)) - 16;
      return element::power_of_two(exponent) * (1.0 + unit(block.word[2]));
    }
    const std::uint32_t which = choice % 4;
    if (which == 1) return c.min_normal;
    return element::power_of_two(which == 0 ? 0 : which == 2 ? -20 : 10);
  }
  default:
    return 0; // kinds.h: fits
  }
}

// An element of rotary (split = false) or rotary_split: cos of head_dim angles, then their sin (line length 2
// * head_dim). The line is the position; base 10000.
ASSAY_ANYWHERE double rotary_element(bool split, const ElementContext& c, const ElementPlace& at) {
  const std::int64_t head_dim = c.line_length / 2, half = head_dim / 2;
  if (head_dim == 0 || at.place >= 2 * head_dim) return 0;
  const std::int64_t i = at.place % head_dim;
  const auto position = static_cast<double>(at.line);
  double angle = 0;
  if (!split) { // position * 10000^(-2i / head_dim), the same for i and i + half; log2 10000 = 13.28...
    const double exponent =
        2.0 * static_cast<double>(i % (half < 1 ? 1 : half)) / static_cast<double>(head_dim);
    angle = position * exact_exp2(-13.287712379549449 * exponent);
  } else { // a frequency of its own for every i, and a seeded phase
    const double exponent = static_cast<double>(i) / static_cast<double>(head_dim);
    const PhiloxBlock phase = philox(c.seed, static_cast<std::uint64_t>(i), line_stream);
    angle = position * exact_exp2(-13.287712379549449 * exponent) +
            6.2831853071795865 * element::unit(phase.word[0]);
  }
  const SinCos value = exact_sin_cos(angle);
  return at.place < head_dim ? value.cos : value.sin;
}

// A real moved into the domain; min_normal is that of the storage type.
ASSAY_ANYWHERE double map_into_domain(const DomainRule& domain, double min_normal, double value) {
  const auto clamp = [](double x, double low, double high) { return x < low ? low : high < x ? high : x; };
  switch (domain.kind) {
  case DomainKind::index:
  case DomainKind::target: {
    const double whole = std::floor(clamp(value, -0x1p40, 0x1p40));
    const auto limit = static_cast<double>(domain.limit);
    return clamp(whole - std::floor(whole / limit) * limit, 0.0, limit - 1);
  }
  case DomainKind::boolean:
    return value > 0 ? 1 : 0;
  case DomainKind::code:
    return clamp(value, domain.low, domain.high);
  case DomainKind::scale: {
    const double magnitude = std::fabs(value);
    return magnitude < min_normal ? min_normal : magnitude;
  }
  default:
    return value;
  }
}

} // namespace assay
