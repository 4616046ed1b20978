// The sums inside a tensor core, bit for bit as an H200 forms them (tests/conformance/README.md says how that
// was established).
#pragma once

#include "harness/device/cpu/emit/fragment.h"

#include <cstddef>
#include <cstdint>

namespace assay::cpu {

// A factor beside its binary exponent: that of 0 is any small one, that of a subnormal number its format's
// smallest.
struct Factor {
  float value = 0;
  std::int32_t exponent = -1000;
};

// The elements that stand at places at[0] to at[count - 1] of an array of floating numbers of at most 32 bits
// (tf32 is what is left of an f32).
void factors_of(Element element, const std::byte* array, const std::uint16_t* at, unsigned count,
                Factor* factors);

inline constexpr unsigned most_columns = 32;

// Factors of b at one place along k, column after column.
struct FactorRow {
  double values[most_columns];
  std::int32_t exponents[most_columns];
};

// sums[j] = sums[j] + sum of a[i] b[i][j], as bits of f32 or f16 (`element`), for the first `columns`;
// `columns` is a multiple of 8. Products are exact; they and the addend are brought to the largest exponent
// among them (a product's is the sum of its factors'), cut toward zero to 25 bits behind its point, added
// exactly, and the sum is cut toward zero to f32 (beyond its range: infinity), or rounded to the nearest f16.
// NaN is 0x7fffffff or 0x7fff.
void accumulate(Element element, const Factor* a, const FactorRow* b, unsigned count, unsigned columns,
                std::uint32_t* sums);

std::uint32_t bits_f16(double x); // rounded to nearest even
std::uint32_t bits_f32(double x);

} // namespace assay::cpu
