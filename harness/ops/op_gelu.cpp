#include "harness/ops/formula_op.h"
#include "harness/ops/gelu_erf.h"
#include "harness/ops/gelu_tanh.h"
#include "harness/ops/swiglu.h"

namespace assay {
template const Op& op_of<GeluErf>();
template const Op& op_of<GeluTanh>();
template const Op& op_of<Swiglu>();
} // namespace assay
