// Reads NVRTC's log: which error comes first, and where.
#pragma once

#include "harness/base/error.h"

#include <string>
#include <string_view>

namespace assay {

// The first error of a failed compilation, as a user error. `source` names the file where the log names none:
// an option that NVRTC does not know, a name expression that names no kernel.
Error first_error(std::string_view log, const std::string& source);

} // namespace assay
