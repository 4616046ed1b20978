// What `assay verify` says: the tolerance before the first launch, then one compact table, the verdict, what
// was tested and what was not (method: section 9).
#pragma once

#include "harness/run/verify.h"

#include <span>
#include <string>

namespace assay {

// One line: the kernel, its operator, and the tolerance by which it will be judged.
std::string verify_declaration(const Kernel& kernel, int cases);

// Fits 100 columns.
std::string verify_text(const VerifyReport& report);

// One object, or a list where there are several kernels.
std::string verify_json(std::span<const VerifyReport> reports);

// The sizes and the values of a case that are not the usual ones: "rows=3 cols=33; x cancelling_sum".
std::string case_summary(const Case& test_case);

} // namespace assay
