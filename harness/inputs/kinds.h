// Which distributions fit which domain.
#pragma once

#include "harness/cases/distribution.h"
#include "harness/inputs/domain.h"
#include "harness/numerics/dtype.h"

#include <cstdint>
#include <string_view>

namespace assay {

// Whether an input of this domain may be drawn from this kind. A kind that makes reals can serve another
// domain where its values are mapped into it (fill.h): constant(value=3) fills an index tensor with 3 modulo
// the limit.
bool fits(DistributionKind kind, const Domain& domain);

// Whether one element's bits are legal in the domain; limit bounds indices and targets.
bool is_legal_value(const Domain& domain, DType storage, std::int64_t limit, std::uint64_t bits);

std::string_view name_of(Domain::Kind kind);

} // namespace assay
