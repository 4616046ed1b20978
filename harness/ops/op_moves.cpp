#include "harness/ops/formula_op.h"
#include "harness/ops/gather_rows.h"
#include "harness/ops/rope.h"
#include "harness/ops/scatter_add_rows.h"
#include "harness/ops/transpose.h"

namespace assay {
template const Op& op_of<Transpose>();
template const Op& op_of<GatherRows>();
template const Op& op_of<ScatterAddRows>();
template const Op& op_of<Rope>();
} // namespace assay
