// The sums inside a tensor core, bit for bit as an H200 forms them (tests/conformance/README.md says how that
// was established).
#pragma once

#include "harness/device/cpu/emit/fragment.h"
#include "harness/device/cpu/emit/narrow_float.h"

#include <cstdint>

namespace assay::cpu {

// A factor beside its binary exponent, of 0 any small one.
struct Factor {
  float value = 0;
  std::int32_t exponent = -1000;
};
Factor factor_of(float value);

// The value of an element's bits (of a floating type of at most 32 bits; tf32 is what is left of an f32).
float value_of(Element element, std::uint32_t bits);

// c + sum of a[i] b[i]. Products are exact; they and the addend are brought to the largest exponent among
// them (a product's is the sum of its factors'), cut toward zero to 25 bits behind its point, added exactly,
// and the sum is cut toward zero to f32; beyond its range it is infinity. NaN is 0x7fffffff.
float accumulate_f32(float c, const Factor* a, const Factor* b, unsigned count);

} // namespace assay::cpu
