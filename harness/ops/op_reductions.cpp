#include "harness/ops/argmax.h"
#include "harness/ops/cumsum.h"
#include "harness/ops/formula_op.h"
#include "harness/ops/max.h"
#include "harness/ops/mean.h"
#include "harness/ops/sum.h"

namespace assay {
template const Op& op_of<Sum>();
template const Op& op_of<Mean>();
template const Op& op_of<Max>();
template const Op& op_of<Argmax>();
template const Op& op_of<Cumsum>();
} // namespace assay
