#include "harness/ops/cross_entropy.h"
#include "harness/ops/formula_op.h"
#include "harness/ops/log_softmax.h"
#include "harness/ops/logsumexp.h"

namespace assay {
template const Op& op_of<LogSoftmax>();
template const Op& op_of<CrossEntropy>();
template const Op& op_of<Logsumexp>();
} // namespace assay
