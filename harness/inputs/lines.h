// Distributions whose elements depend on others of their line, and those that belong to one domain: whole
// lines at a time.
#pragma once

#include "harness/inputs/domain.h"
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

// A line of `legal`: any values of the domain, its edges with probability p[0]. `limit` bounds indices and
// targets.
void legal_line(const Domain& domain, DType storage, std::int64_t limit, const ElementContext& context,
                std::uint64_t line, std::span<double> out);

// A line of rotary or rotary_split: cos of head_dim angles, then their sin (line length 2 * head_dim). The
// line is the position; base 10000.
void rotary_line(DistributionKind kind, const ElementContext& context, std::uint64_t line,
                 std::span<double> out);

} // namespace assay
