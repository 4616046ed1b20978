#include "harness/ops/formula_op.h"
#include "harness/ops/offset_rmsnorm.h"
#include "harness/ops/rmsnorm.h"

namespace assay {
template const Op& op_of<Rmsnorm>();
template const Op& op_of<OffsetRmsnorm>();
} // namespace assay
