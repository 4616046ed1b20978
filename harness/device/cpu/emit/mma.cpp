#include "harness/device/cpu/emit/mma.h"

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

template <class Value>
void multiply(const std::uint32_t* a, const std::uint32_t* b, const float* c, float* d, std::uint32_t k,
              Value value) {
  std::array<std::array<float, 16>, 16> left{}; // [row][k]
  std::array<std::array<float, 16>, 8> right{}; // [column][k]
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t group = lane / 4, pair = 2 * (lane % 4);
    for (std::uint32_t r = 0; r < k / 4;
         ++r) // registers of A: rows group and group + 8, then the next 8 columns
      for (std::uint32_t h = 0; h < 2; ++h)
        left[group + 8 * (r % 2)][pair + h + 8 * (r / 2)] =
            value(static_cast<std::uint16_t>(a[r * 32 + lane] >> (16 * h)));
    for (std::uint32_t r = 0; r < k / 8; ++r)
      for (std::uint32_t h = 0; h < 2; ++h)
        right[group][pair + h + 8 * r] = value(static_cast<std::uint16_t>(b[r * 32 + lane] >> (16 * h)));
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    for (std::uint32_t r = 0; r < 4; ++r) {
      const std::uint32_t row = lane / 4 + 8 * (r / 2), column = 2 * (lane % 4) + r % 2;
      double sum = static_cast<double>(c[r * 32 + lane]);
      for (std::uint32_t at = 0; at < k; ++at)
        sum += static_cast<double>(left[row][at]) * static_cast<double>(right[column][at]);
      d[r * 32 + lane] = std::isnan(sum) ? std::bit_cast<float>(0x7fffffffu) : static_cast<float>(sum);
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
