#include "harness/ops/formula_op.h"
#include "harness/ops/relu.h"
#include "harness/ops/sigmoid.h"
#include "harness/ops/silu.h"
#include "harness/ops/tanh.h"

namespace assay {
template const Op& op_of<Relu>();
template const Op& op_of<Silu>();
template const Op& op_of<Sigmoid>();
template const Op& op_of<Tanh>();
} // namespace assay
