// Operators that users write: a header beside the kernel, in the vocabulary of harness/ops (see its README),
// compiled with every instrument when a manifest first asks for it.
#pragma once

#include "harness/base/error.h"
#include "harness/ops/op.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

// Whether a manifest's `op` names a header rather than a built-in operator.
bool is_user_operator(std::string_view op);

// The struct in namespace assay that an operator's header defines: "my_op" gives "MyOp".
std::string formula_name(std::string_view name);

// The operator of the header `my_op.h`, which defines `struct assay::MyOp` with name "my_op". It lives as
// long as the process. Errors:
//   user         the header is not there, does not compile, or declares what cannot be, at its file and line;
//                or its formula, tried in a child on small inputs, leaves elements of an output out, reads
//                outside a tensor, crashes, exits, throws or does not return, or its backward is not the
//                derivative of forward (operator_trial.h)
//   environment  no compiler
// A formula that does so only on other inputs ends the process with one line and exit code 2
// (operator_guard.h).
Result<const Op*> load_user_operator(const std::filesystem::path& header,
                                     const std::filesystem::path& cache_dir);

} // namespace assay
