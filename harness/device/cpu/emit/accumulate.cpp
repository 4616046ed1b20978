#include "harness/device/cpu/emit/accumulate.h"

#include "harness/device/cpu/emit/narrow_float.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace assay::cpu {
namespace {

constexpr int kept_bits = 25; // behind the point of the largest
constexpr int no_exponent = -1000;
constexpr int cut_to_zero = -1500; // a tf32 factor of which nothing is left: its products are +0
constexpr int not_finite = 2000;   // also times zero

float eight_bits(std::uint32_t bits, int exponent_bits, bool has_infinity) {
  const int fraction_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1);
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  const bool top = exponent == (1 << exponent_bits) - 1;
  if (top && has_infinity) return fraction == 0 ? sign * INFINITY : NAN;
  if (top && fraction == (1 << fraction_bits) - 1) return NAN;
  const int significand = exponent == 0 ? fraction : fraction | 1 << fraction_bits;
  return sign * std::ldexp(static_cast<float>(significand), std::max(exponent, 1) - bias - fraction_bits);
}

template <Element element> float value_of(std::uint32_t bits) {
  if constexpr (element == Element::f16)
    return static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
  if constexpr (element == Element::bf16) return std::bit_cast<float>(bits << 16);
  if constexpr (element == Element::tf32) return std::bit_cast<float>(bits & 0xffffe000u);
  if constexpr (element == Element::e4m3) return eight_bits(bits, 4, false);
  if constexpr (element == Element::e5m2) return eight_bits(bits, 5, true);
  return std::bit_cast<float>(bits);
}

template <Element element> Factor factor_of(std::uint32_t bits) {
  // of a normal number; 8-bit floats are multiplied as f16
  constexpr bool narrow = element == Element::f16 || element == Element::e4m3 || element == Element::e5m2;
  constexpr int smallest = narrow ? -14 : -126;
  const float value = value_of<element>(bits);
  const auto field = static_cast<int>(std::bit_cast<std::uint32_t>(value) >> 23 & 255);
  int exponent = std::max(field - 127, smallest);
  if (field == 255) exponent = not_finite;
  if (value == 0)
    exponent = element == Element::tf32 && (bits & 0x7fffffffu) != 0 ? cut_to_zero : no_exponent;
  return {value, exponent};
}

template <Element element, class Word>
void read_factors(const std::byte* array, const std::uint16_t* at, unsigned count, Factor* factors) {
  for (unsigned k = 0; k < count; ++k) {
    Word word;
    std::memcpy(&word, array + at[k] * sizeof word, sizeof word);
    factors[k] = factor_of<element>(word);
  }
}

// c + sum of a[i] b[i][column] where the terms are zeros alone, or not all finite.
double plain_sum(Factor c, const Factor* a, const FactorRow* b, unsigned count, unsigned column) {
  auto sum = static_cast<double>(c.value);
  for (unsigned at = 0; at < count; ++at) {
    const double product = static_cast<double>(a[at].value) * b[at].values[column];
    const bool positive = a[at].exponent == cut_to_zero || b[at].exponents[column] == cut_to_zero;
    sum += product == 0 && positive ? 0.0 : product;
  }
  return sum;
}

bool is_plain(int top) { return top > 2 * 127 || top <= no_exponent / 2; }

double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

// sum * 2^exponent, cut toward zero to f32; what is cut to zero is +0.
float cut(double exact, int exponent) {
  if (exponent < -100 || exponent > 60) // subnormal, or too large
    return static_cast<float>(round_to(std::ldexp(exact, exponent), format_f32, Round::toward_zero) + 0.0);
  auto nearest = static_cast<float>(exact);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(exact))
    nearest = std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) - 1);
  return nearest * std::bit_cast<float>(static_cast<std::uint32_t>(127 + exponent) << 23);
}

} // namespace

void factors_of(Element element, const std::byte* array, const std::uint16_t* at, unsigned count,
                Factor* factors) {
  switch (element) {
  case Element::f16:
    return read_factors<Element::f16, std::uint16_t>(array, at, count, factors);
  case Element::bf16:
    return read_factors<Element::bf16, std::uint16_t>(array, at, count, factors);
  case Element::tf32:
    return read_factors<Element::tf32, std::uint32_t>(array, at, count, factors);
  case Element::e4m3:
    return read_factors<Element::e4m3, std::uint8_t>(array, at, count, factors);
  case Element::e5m2:
    return read_factors<Element::e5m2, std::uint8_t>(array, at, count, factors);
  default:
    return read_factors<Element::f32, std::uint32_t>(array, at, count, factors);
  }
}

void accumulate(Element element, const Factor* a, const FactorRow* b, unsigned count, unsigned columns,
                std::uint32_t* sums) {
  std::array<Factor, most_columns> addends;
  std::array<std::int32_t, most_columns> tops;
  std::array<double, most_columns> scales, totals;
  for (unsigned j = 0; j < columns; ++j) {
    addends[j] =
        element == Element::f16 ? factor_of<Element::f16>(sums[j]) : factor_of<Element::f32>(sums[j]);
    tops[j] = addends[j].exponent;
  }
  for (unsigned at = 0; at < count; ++at) // loops over columns, for the vectoriser
    for (unsigned j = 0; j < columns; ++j) tops[j] = std::max(tops[j], a[at].exponent + b[at].exponents[j]);
  for (unsigned j = 0; j < columns; ++j) {
    scales[j] = is_plain(tops[j]) ? 0.0 : power_of_two(kept_bits - tops[j]);
    totals[j] = std::trunc(static_cast<double>(addends[j].value) * scales[j]);
  }
  for (unsigned at = 0; at < count; ++at) {
    const auto left = static_cast<double>(a[at].value);
    for (unsigned j = 0; j < columns; ++j)
      totals[j] += std::trunc(left * b[at].values[j] * scales[j]); // below 2^33, so exact
  }
  for (unsigned j = 0; j < columns; ++j) {
    const int exponent = tops[j] - kept_bits;
    const double total = totals[j] + 0.0; // no -0
    if (is_plain(tops[j])) {
      const double sum = plain_sum(addends[j], a, b, count, j);
      sums[j] = element == Element::f16 ? bits_f16(sum) : bits_f32(sum);
    } else if (element == Element::f16) {
      sums[j] = bits_f16(total * power_of_two(exponent));
    } else {
      sums[j] = std::bit_cast<std::uint32_t>(cut(total, exponent));
    }
  }
}

std::uint32_t bits_f16(double x) {
  if (std::isnan(x)) return 0x7fff;
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(x));
}

std::uint32_t bits_f32(double x) {
  if (std::isnan(x)) return 0x7fffffff;
  return std::bit_cast<std::uint32_t>(static_cast<float>(x));
}

} // namespace assay::cpu
