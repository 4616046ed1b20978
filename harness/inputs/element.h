// What one element of each distribution is, bit for bit: integer arithmetic on Philox words and IEEE double
// operations without contraction and without libm, so that every machine, and NVRTC with -fmad=false,
// computes the same. Kinds that depend on the elements before them in the line (DistributionRule::sequential)
// are in lines.cpp.
#pragma once

#include "harness/cases/distribution_kind.h"
#include "harness/inputs/philox.h"

#include <cmath>
#include <cstdint>

namespace assay {

// What an element may depend on besides its place.
struct ElementContext {
  double p[3] = {0, 0, 0}; // the distribution's parameters
  std::uint64_t seed = 0;
  std::int64_t line_length = 1;
  // Of the storage type; an integer type is treated as double and narrowed by its domain.
  int precision = 53;     // significand bits, the implicit one included
  double largest = 0;     // largest finite value
  double top_spacing = 0; // between the largest finite values
  double min_normal = 0;
  double min_subnormal = 0;
};

struct ElementPlace {
  std::uint64_t index = 0; // in the whole tensor, row-major
  std::uint64_t line = 0;
  std::int64_t place = 0; // in its line
};

namespace element {

ASSAY_ANYWHERE double from_double_bits(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }
ASSAY_ANYWHERE std::uint64_t double_bits(double value) { return __builtin_bit_cast(std::uint64_t, value); }

// An integer below 2^52 as a double, by its bits: vectorises where a conversion would not.
ASSAY_ANYWHERE double exact_double(std::uint64_t n) {
  return from_double_bits(0x4330000000000000 | n) - 0x1p52;
}

ASSAY_ANYWHERE double power_of_two(int exponent) { // -1074 to 1023
  return exponent >= -1022 ? from_double_bits(static_cast<std::uint64_t>(exponent + 1023) << 52)
                           : from_double_bits(std::uint64_t{1} << (exponent + 1074));
}

// Uniform in (0, 1): the midpoints of 2^32 equal cells.
ASSAY_ANYWHERE double unit(std::uint32_t word) { return exact_double(2 * std::uint64_t{word} + 1) * 0x1p-33; }

// Uniform in [0, count), count at most 2^32.
ASSAY_ANYWHERE std::uint64_t below(std::uint32_t word, std::uint64_t count) { return (word * count) >> 32; }

ASSAY_ANYWHERE double with_sign(double magnitude, std::uint32_t bit) {
  return (bit & 1) != 0 ? -magnitude : magnitude;
}

// The inverse of the normal distribution function at unit(word): algorithm AS 241, PPND7 (Wichura 1988),
// relative error 1.2e-7, with a logarithm of our own (|error| < 1e-9). Two parts, so that bulk loops can run
// each over many words.
ASSAY_ANYWHERE bool in_tail(std::uint32_t word) { // |unit - 1/2| > 0.425
  return word < 322122547u || word > 3972844748u;
}
// a / b, rounded once, where neither the quotient nor what it is made of leaves the range of normal numbers.
ASSAY_ANYWHERE double quotient(double a, double b) {
#ifdef __CUDA_ARCH__ // the division without its tests for that
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(b));
  double e = __fma_rn(-b, y, 1.0);
  e = __fma_rn(e, e, e);
  y = __fma_rn(y, e, y);
  e = __fma_rn(-b, y, 1.0);
  y = __fma_rn(y, e, y);
  const double q = a * y;
  return __fma_rn(y, __fma_rn(-b, q, a), q);
#else
  return a / b;
#endif
}
ASSAY_ANYWHERE double normal_centre(std::uint32_t word) {
  const double q = unit(word) - 0.5;
  const double r = 0.180625 - q * q;
  return quotient(q * (((5.9109374720e1 * r + 1.5929113202e2) * r + 5.0434271938e1) * r + 3.3871327179),
                  (((6.7187563600e1 * r + 7.8757757664e1) * r + 1.7895169469e1) * r + 1.0));
}
ASSAY_ANYWHERE double normal_tail(std::uint32_t word) {
  const bool low = word < 0x80000000u;
  const double n =
      exact_double(2 * std::uint64_t{low ? word : ~word} + 1); // the tail's probability is n / 2^33
  // n = m * 2^e with m in [1, 2); ln m by its series in s = (m - 1.5) / (m + 1.5), |s| <= 0.2, around ln 1.5.
  const std::uint64_t bits = double_bits(n);
  const double e = exact_double(bits >> 52) - 1023.0;
  const double m = from_double_bits((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000);
  const double s = (m - 1.5) / (m + 1.5);
  const double t = s * s;
  const double ln_m =
      0.40546510810816438 +
      2.0 * s * (1.0 + t * (1.0 / 3 + t * (1.0 / 5 + t * (1.0 / 7 + t * (1.0 / 9 + t * (1.0 / 11))))));
  const double minus_ln_p = (33.0 - e) * 0.69314718055994531 - ln_m;
  const double r = std::sqrt(minus_ln_p) - 1.6;
  const double z = (((1.7023821103e-1 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) /
                   ((1.2021132975e-1 * r + 7.3700164250e-1) * r + 1.0);
  return low ? -z : z;
}
ASSAY_ANYWHERE double normal(std::uint32_t word) {
  return in_tail(word) ? normal_tail(word) : normal_centre(word);
}

// The place of a single element in a line: share 0 is the first, 1 the last.
ASSAY_ANYWHERE std::int64_t place_at(double share, std::int64_t line_length) {
  return static_cast<std::int64_t>(share * static_cast<double>(line_length - 1) + 0.5);
}

} // namespace element

// Whether a kind's elements start from a normal variate of their word (`z` below).
constexpr bool uses_normal(DistributionKind kind) {
  using Kind = DistributionKind;
  return kind == Kind::normal || kind == Kind::sparse || kind == Kind::near_constant ||
         kind == Kind::large_offset || kind == Kind::one_outlier || kind == Kind::specials;
}
template <DistributionKind kind> inline constexpr bool uses_normal_v = uses_normal(kind);
// Whether element_of knows the kind.
constexpr bool has_element_function(DistributionKind kind) {
  using Kind = DistributionKind;
  return kind <= Kind::specials && kind != Kind::sorted_ascending && kind != Kind::sorted_descending &&
         kind != Kind::cancelling_pairs && kind != Kind::cancelling_sum;
}
// Whether a kind reads its element's word at all.
constexpr bool uses_word(DistributionKind kind) {
  using Kind = DistributionKind;
  return uses_normal(kind) || kind == Kind::powers_of_two || kind == Kind::signed_zeros ||
         kind == Kind::all_positive || kind == Kind::all_negative || kind == Kind::uniform ||
         kind == Kind::extreme_logits || kind == Kind::half_integers || kind == Kind::largest;
}

// The element at `at`, before it is rounded to the storage type. word = element_word(seed, at.index) where
// uses_word; z = normal(word) where uses_normal.
template <DistributionKind kind>
  requires(has_element_function(kind))
ASSAY_ANYWHERE double element_of(const ElementContext& c, const ElementPlace& at, std::uint32_t word,
                                 double z) {
  using Kind = DistributionKind;
  using namespace element;
  if constexpr (kind == Kind::zero) return 0.0;
  if constexpr (kind == Kind::constant) return c.p[0];
  if constexpr (kind == Kind::equal) return c.p[0] * normal(philox(c.seed, at.line, line_stream).word[0]);
  if constexpr (kind == Kind::alternating) return (at.place & 1) != 0 ? -c.p[0] : c.p[0];
  if constexpr (kind == Kind::one_hot) return at.place == place_at(c.p[1], c.line_length) ? c.p[0] : 0.0;
  if constexpr (kind == Kind::ramp)
    return c.line_length < 2 ? c.p[0]
                             : c.p[0] + (c.p[1] - c.p[0]) * (static_cast<double>(at.place) /
                                                             static_cast<double>(c.line_length - 1));
  if constexpr (kind == Kind::index_coded) {
    const std::uint64_t period = std::uint64_t{1} << c.precision;
    return c.p[0] * static_cast<double>(1 + at.index % period);
  }
  if constexpr (kind == Kind::powers_of_two) {
    const auto count = static_cast<std::uint64_t>(c.p[1] - c.p[0]) + 1;
    const int exponent = static_cast<int>(c.p[0]) + static_cast<int>(below(word & ~1u, count));
    return with_sign(power_of_two(exponent), word);
  }
  if constexpr (kind == Kind::signed_zeros) return with_sign(0.0, word);
  if constexpr (kind == Kind::all_positive) return c.p[0] * (0.5 + unit(word));
  if constexpr (kind == Kind::all_negative) return -(c.p[0] * (0.5 + unit(word)));
  if constexpr (kind == Kind::uniform) return c.p[0] + (c.p[1] - c.p[0]) * unit(word);
  if constexpr (kind == Kind::normal || kind == Kind::near_constant || kind == Kind::large_offset)
    return c.p[0] + c.p[1] * z;
  if constexpr (kind == Kind::sparse)
    return unit(philox(c.seed, at.index, second_stream).word[0]) < c.p[0] ? c.p[1] * z : 0.0;
  if constexpr (kind == Kind::one_outlier)
    return at.place == place_at(c.p[1], c.line_length) ? c.p[0] : c.p[2] * z;
  if constexpr (kind == Kind::swamping) return at.place == place_at(c.p[1], c.line_length) ? c.p[0] : 1.0;
  if constexpr (kind == Kind::wide) {
    const PhiloxBlock block = philox(c.seed, at.index, second_stream);
    const auto count = static_cast<std::uint64_t>(c.p[1] - c.p[0]) + 1;
    const int exponent = static_cast<int>(c.p[0]) + static_cast<int>(below(block.word[0], count));
    const std::uint64_t fraction = (std::uint64_t{block.word[1]} << 20) | (block.word[2] >> 12);
    return with_sign(from_double_bits(0x3FF0000000000000 | fraction) * power_of_two(exponent), block.word[3]);
  }
  if constexpr (kind == Kind::extreme_logits) {
    const std::uint32_t choice = word & 3;
    if (choice == 0) return c.p[0];
    if (choice == 1) return -c.p[0];
    return choice == 2 ? c.p[0] * (2.0 * unit(word) - 1.0) : c.p[0] - 1.0;
  }
  if constexpr (kind == Kind::half_integers) {
    if (at.place == 0) return c.p[0];
    const auto limit = static_cast<std::uint64_t>(c.p[0]);
    return static_cast<double>(below(word, 2 * limit)) - c.p[0] + 0.5;
  }
  if constexpr (kind == Kind::ties) {
    const int tie_bits = static_cast<int>(c.p[0]);
    const bool own_tie =
        c.precision - 1 > tie_bits; // the type has room for half a step; else two neighbours share it
    const bool partner = !own_tie && (at.place & 1) != 0;
    const PhiloxBlock block = philox(c.seed, at.index - (partner ? 1 : 0), second_stream);
    const int exponent = static_cast<int>(block.word[0] % 5) - 2;
    const int bits = own_tie ? tie_bits : c.precision - 1;
    if (partner) return with_sign(power_of_two(exponent - bits - 1), block.word[3]);
    const std::uint64_t fraction = ((std::uint64_t{block.word[1]} << 32) | block.word[2]) >> (64 - bits);
    const double value = static_cast<double>((std::uint64_t{1} << bits) + fraction) + (own_tie ? 0.5 : 0.0);
    return with_sign(value * power_of_two(exponent - bits), block.word[3]);
  }
  if constexpr (kind == Kind::beside_ties) {
    const int bits = static_cast<int>(c.p[0]), low = static_cast<int>(c.p[1]);
    const PhiloxBlock block = philox(c.seed, at.index, second_stream);
    const bool below_normal = (block.word[0] & 3) == 0;
    const auto count = static_cast<std::uint64_t>(c.p[2] - c.p[1]) + 1;
    const int exponent = below_normal ? low : low + static_cast<int>(below(block.word[0], count));
    const std::uint64_t fraction = ((std::uint64_t{block.word[1]} << 32) | block.word[2]) >> (64 - bits);
    const std::uint64_t steps = fraction + (below_normal ? 0 : std::uint64_t{1} << bits);
    const double tie = (static_cast<double>(steps) + 0.5) * power_of_two(exponent - bits);
    const int tie_exponent = static_cast<int>(double_bits(tie) >> 52) - 1023;
    const double unit_of_storage = power_of_two(tie_exponent - c.precision + 1);
    const auto side = static_cast<int>((block.word[3] >> 1) % 3) - 1;
    return with_sign(tie + side * unit_of_storage, block.word[3]);
  }
  if constexpr (kind == Kind::subnormal) {
    const PhiloxBlock block = philox(c.seed, at.index, second_stream);
    const std::uint64_t count = (std::uint64_t{1} << (c.precision - 1)) - 1; // of subnormals of one sign
    std::uint64_t n =
        1 + (((std::uint64_t{block.word[1]} << 32) | block.word[2]) >> (65 - c.precision)) % count;
    if ((block.word[0] & 7) == 0) n = 1;
    if ((block.word[0] & 7) == 1) n = count;
    return with_sign(static_cast<double>(n) * c.min_subnormal, block.word[3]);
  }
  if constexpr (kind == Kind::largest) return with_sign(c.largest - (word >> 30) * c.top_spacing, word);
  if constexpr (kind == Kind::specials) {
    const PhiloxBlock block = philox(c.seed, at.index, second_stream);
    if (!(unit(block.word[0]) < c.p[0])) return c.p[1] * z;
    const std::uint64_t infinity = 0x7FF0000000000000;
    const std::uint32_t choice = block.word[1] % 3;
    if (choice == 0) return from_double_bits(infinity | (std::uint64_t{1} << 51));
    return with_sign(from_double_bits(infinity), choice);
  }
}

} // namespace assay
