#include "harness/device/cpu/emit/mma.h"

#include "harness/device/cpu/emit/narrow_float.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace assay::cpu {
namespace {

float bf16_value(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

float f16_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction != 0 ? std::bit_cast<float>(0x7fffffffu) : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25));
}

// A number of the matrices beside its exponent, of 0 any small one.
struct Element {
  float value = 0;
  int exponent = -1000;
};

Element element_of(float value) { return {value, value == 0 ? -1000 : std::ilogb(value)}; }

// One output, bit for bit as an H200 gives it: the addend and all products of the instruction's k are brought
// to the largest exponent among them (a product's is the sum of its factors'), cut toward zero to 25 bits
// behind its point, added exactly, and the sum is cut toward zero to f32 (beyond it: infinity). Established
// by recordings (tests/conformance/rows/matrix.json).
float dot(float c, const Element* a, const Element* b, std::uint32_t k) {
  int top = element_of(c).exponent;
  double plain = static_cast<double>(c);
  for (std::uint32_t at = 0; at < k; ++at) {
    plain += static_cast<double>(a[at].value) * static_cast<double>(b[at].value);
    top = std::max(top, a[at].exponent + b[at].exponent);
  }
  if (std::isnan(plain)) return std::bit_cast<float>(0x7fffffffu);
  if (std::isinf(plain)) return static_cast<float>(plain);
  if (top <= -1000) return static_cast<float>(plain); // zeros
  const double scale = std::ldexp(1.0, 25 - top);
  auto sum = static_cast<std::int64_t>(static_cast<double>(c) * scale);
  for (std::uint32_t at = 0; at < k; ++at)
    sum += static_cast<std::int64_t>(static_cast<double>(a[at].value) * static_cast<double>(b[at].value) *
                                     scale);
  const double exact = std::ldexp(static_cast<double>(sum), top - 25);
  return static_cast<float>(round_to(exact, format_f32, Round::toward_zero));
}

template <class Value>
void multiply(const std::uint32_t* a, const std::uint32_t* b, const float* c, float* d, std::uint32_t k,
              Value value) {
  std::array<std::array<Element, 16>, 16> left{}; // [row][k]
  std::array<std::array<Element, 16>, 8> right{}; // [column][k]
  const auto half = [value](std::uint32_t pair, std::uint32_t h) {
    return element_of(value(static_cast<std::uint16_t>(pair >> (16 * h))));
  };
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t group = lane / 4, pair = 2 * (lane % 4);
    for (std::uint32_t r = 0; r < k / 4;
         ++r) // registers of A: rows group and group + 8, then the next 8 columns
      for (std::uint32_t h = 0; h < 2; ++h)
        left[group + 8 * (r % 2)][pair + h + 8 * (r / 2)] = half(a[r * 32 + lane], h);
    for (std::uint32_t r = 0; r < k / 8; ++r)
      for (std::uint32_t h = 0; h < 2; ++h) right[group][pair + h + 8 * r] = half(b[r * 32 + lane], h);
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    for (std::uint32_t r = 0; r < 4; ++r) {
      const std::uint32_t row = lane / 4 + 8 * (r / 2), column = 2 * (lane % 4) + r % 2;
      d[r * 32 + lane] = dot(c[r * 32 + lane], left[row].data(), right[column].data(), k);
    }
}

} // namespace

extern "C" {
void assay_mma_f16(const std::uint32_t* a, const std::uint32_t* b, const float* c, float* d,
                   std::uint32_t k) {
  multiply(a, b, c, d, k, f16_value);
}
void assay_mma_bf16(const std::uint32_t* a, const std::uint32_t* b, const float* c, float* d,
                    std::uint32_t k) {
  multiply(a, b, c, d, k, bf16_value);
}
}

} // namespace assay::cpu
