// Durations as users write them.
#pragma once

#include "harness/base/error.h"

#include <string_view>

namespace assay {

// Seconds of "90", "90s", "1.5m", "8h"; above 0 and at most a year. Anything else: a user error.
Result<double> parse_duration(std::string_view text);

} // namespace assay
