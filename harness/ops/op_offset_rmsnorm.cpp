#include "harness/ops/formula_op.h"
#include "harness/ops/offset_rmsnorm.h"

namespace assay {
template const Op& op_of<OffsetRmsnorm>();
}
