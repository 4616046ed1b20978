#include "harness/ops/formula_op.h"
#include "harness/ops/l2_normalize.h"
#include "harness/ops/layernorm.h"
#include "harness/ops/variance.h"

namespace assay {
template const Op& op_of<Layernorm>();
template const Op& op_of<Variance>();
template const Op& op_of<L2Normalize>();
} // namespace assay
