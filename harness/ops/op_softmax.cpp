#include "harness/ops/formula_op.h"
#include "harness/ops/masked_softmax.h"
#include "harness/ops/softmax.h"

namespace assay {
template const Op& op_of<Softmax>();
template const Op& op_of<MaskedSoftmax>();
} // namespace assay
