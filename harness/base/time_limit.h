// Limits of time that a user may raise, or lower.
#pragma once

#include <chrono>

namespace assay {

// What the environment variable says, a whole number of seconds above 0; `usual` where it says nothing else.
std::chrono::seconds time_limit(const char* variable, std::chrono::seconds usual);

} // namespace assay
