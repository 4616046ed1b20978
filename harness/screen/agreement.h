// Whether what the screen said of a case can be true beside what the host says of it.
#pragma once

#include "harness/run/kernel.h"
#include "harness/run/trial.h"
#include "harness/screen/burst.h"

#include <optional>
#include <string>

namespace assay {

// Why not, in one line: the host suspects in the numbers or the structure of a case what the screen called
// clean, or the two measured different errors of the target or of the reference, by more than the bounds of
// the two goldens and the record's rounding allow. Nothing: they agree as far as they can be compared. Of a
// kernel whose results may differ from run to run the target's errors are not compared, of a program whose
// reference may be another than the host's (JudgeFacts) the reference's are not, nor what follows from them.
// What the screen cannot see, such as a write far outside a buffer, is no contradiction.
std::optional<std::string> contradiction(const Kernel& kernel, const ScreenedCase& screened,
                                         const JudgeFacts& facts, const Trial& trial);

} // namespace assay
