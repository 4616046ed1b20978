// Distributions whose elements depend on others of their line, whole lines at a time.
#pragma once

#include "harness/inputs/element.h"
#include "harness/numerics/dtype.h"

#include <cstdint>
#include <span>

namespace assay {

// z[i] = element::normal(element_word(seed, first + i)), in bulk.
void normal_values(std::uint64_t seed, std::uint64_t first, std::span<double> z);

// A line of a sequential kind. cancelling_sum needs the type, because the running sum is that of the rounded
// values.
void sequential_line(DistributionKind kind, const ElementContext& context, DType storage, std::uint64_t line,
                     std::span<double> out);

} // namespace assay
