// y = x * rstd * (1 + weight), its gradients likewise.
#pragma once

#include "harness/ops/rmsnorm.h"

namespace assay {

struct OffsetRmsnorm : RmsnormFormula<true> {};

} // namespace assay
