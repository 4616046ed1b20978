// Bits beside bits: how far apart two results of one type are.
#pragma once

#include "tests/conformance/bounds.h"

#include <cstdint>
#include <string>

namespace assay::conformance {

// How the bits of one output are read: "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"; anything else: as
// bits.
std::string format_of(const std::string& ptx, const std::string& type);

struct Difference {
  double ulps = 0, absolute = 0, relative = 0;
  bool allowed = true;
  bool bounded = true; // false: PTX says nothing of such an operand, and any number is allowed
};

// `operand` is the first one, in the same format. Differences in NaN, infinity or sign of a zero's bits are
// never allowed; both sides may be off by what the bound says of the exact result, `got` by half an ulp only.
Difference difference(const std::string& format, std::uint64_t got, std::uint64_t wanted,
                      std::uint64_t operand, const Bound& bound);

} // namespace assay::conformance
