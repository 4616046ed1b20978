// The values of an input, from the few words of a case: the same bits on every machine. Philox4x32-10 words
// keyed by (seed, element) become values by integer arithmetic and IEEE operations with contraction off; no
// libm.
#pragma once

#include "harness/cases/case.h"
#include "harness/inputs/domain.h"
#include "harness/numerics/tensor.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace assay {

using DimValues = std::span<const std::pair<std::string, std::int64_t>>;

// The dense values of `input` in `storage`. A line is a slice along the last dimension. The base distribution
// first, then the patches, then the overrides; what the domain forbids is never drawn (and of a quantizable
// input, a row whose scale would be below 2^-126 is made zero). Floats that would round to infinity are the
// largest finite value. The input must be legal for its shape (inputs/space.h: check_case); `dims` bounds
// indices by domain.limit.
Tensor fill(const TensorInput& input, DType storage, std::span<const std::int64_t> shape,
            const Domain& domain, DimValues dims);

// The same into a tensor whose memory is reused.
void fill_into(Tensor& out, const TensorInput& input, DType storage, std::span<const std::int64_t> shape,
               const Domain& domain, DimValues dims);

} // namespace assay
