// Each operator in PyTorch, in float64: what an exported script compares with.
#pragma once

#include <string_view>

namespace assay {

// Python statements, one a line, over the operator's tensors (float64, or int64 for integer types), dims and
// params by their names; they assign its outputs. Gradients come from autograd. Empty: no such operator is
// built in.
std::string_view torch_formula(std::string_view op);

} // namespace assay
