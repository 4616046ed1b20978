// Time that has passed.
#pragma once

#include <chrono>

namespace assay {

// Seconds since then, by the monotonic clock.
inline double since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

} // namespace assay
