// Fused multiply-add of half types: the product is exact in double, the sum is rounded to odd there, and
// rounding that to the half type is the one rounding that counts.
#include "harness/device/cpu/runtime/half.h"
#include "harness/device/cpu/runtime/math.h"

#include <bit>
#include <cmath>
#include <limits>

namespace assay::cpu {

void assay_fma_f16(const std::uint16_t* a, const std::uint16_t* b, const std::uint16_t* c, std::uint16_t* r) {
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const double product = static_cast<double>(f16_to_f32(a[i])) * static_cast<double>(f16_to_f32(b[i]));
    r[i] = f64_to_f16(add_to_odd(product, static_cast<double>(f16_to_f32(c[i]))));
  }
}

void assay_fma_ftz_f16(const std::uint16_t* a, const std::uint16_t* b, const std::uint16_t* c,
                       std::uint16_t* r) {
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const double product = static_cast<double>(f16_to_f32(a[i])) * static_cast<double>(f16_to_f32(b[i]));
    const double sum = add_to_odd(product, static_cast<double>(f16_to_f32(c[i])));
    r[i] = f64_to_f16(std::fabs(sum) < 0x1p-14 - 0x1p-26 ? std::copysign(0.0, sum) : sum);
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
