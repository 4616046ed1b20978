// Ctrl-C and SIGTERM as a flag that loops look at.
#pragma once

#include <csignal>

namespace assay {

// While one lives, SIGINT and SIGTERM only count; before and after they end the process as usual.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  struct sigaction old_int_{}, old_term_{};
};

int interruptions(); // since the process began
inline bool interrupted() { return interruptions() > 0; }

} // namespace assay
