#include "harness/ops/attention.h"
#include "harness/ops/causal_conv1d.h"
#include "harness/ops/formula_op.h"
#include "harness/ops/gemm.h"
#include "harness/ops/gemm_nt.h"

namespace assay {
template const Op& op_of<Gemm>();
template const Op& op_of<GemmNt>();
template const Op& op_of<Attention>();
template const Op& op_of<CausalConv1d>();
} // namespace assay
