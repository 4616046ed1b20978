// Numbers rounded to 16 bits by the GPU's own conversions, for the fill and for the judge.
#pragma once

#include <cstdint>

namespace assay::screen {

inline std::uint16_t f16_bits(float x) {
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
inline std::uint16_t bf16_bits(float x) {
  std::uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
// A float on the way is rounded to odd: what was cut off shows in its last bit, so the next rounding is the
// only one (Boldo, Melquiond, "Emulation of FMA and correctly rounded sums", IEEE TC 57(4), 2008).
inline float rounded_to_odd(double x) {
  const float cut = __double2float_rz(x);
  return cut == x ? cut : __uint_as_float(__float_as_uint(cut) | 1);
}

} // namespace assay::screen
