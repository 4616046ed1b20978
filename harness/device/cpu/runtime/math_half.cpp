// Fused multiply-add of half types: the product is exact in double, the sum is rounded to odd there, and
// rounding that to the half type is the one rounding that counts (Boldo and Melquiond 2008: odd rounding with
// two extra bits is innocuous).
#include "harness/device/cpu/runtime/half.h"
#include "harness/device/cpu/runtime/math.h"

#include <bit>
#include <cmath>
#include <limits>

namespace assay::cpu {
namespace {

inline double add_to_odd(double a, double b) {
  const double sum = a + b;
  const double tail = sum - a;
  const double error = (a - (sum - tail)) + (b - tail);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(sum);
  const bool inexact = error != 0.0 && std::fabs(sum) < std::numeric_limits<double>::infinity();
  const std::uint64_t step = (error > 0.0) == (sum > 0.0) ? 1 : ~std::uint64_t{0};
  return std::bit_cast<double>(inexact && !(bits & 1) ? bits + step : bits);
}

} // namespace

void assay_fma_f16(const std::uint16_t* a, const std::uint16_t* b, const std::uint16_t* c, std::uint16_t* r) {
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const double product = static_cast<double>(f16_to_f32(a[i])) * static_cast<double>(f16_to_f32(b[i]));
    r[i] = f64_to_f16(add_to_odd(product, static_cast<double>(f16_to_f32(c[i]))));
  }
}

void assay_fma_bf16(const std::uint16_t* a, const std::uint16_t* b, const std::uint16_t* c,
                    std::uint16_t* r) {
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const double product = static_cast<double>(bf16_to_f32(a[i])) * static_cast<double>(bf16_to_f32(b[i]));
    r[i] = f64_to_bf16(add_to_odd(product, static_cast<double>(bf16_to_f32(c[i]))));
  }
}

} // namespace assay::cpu
