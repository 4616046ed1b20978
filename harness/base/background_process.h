// Work that nobody waits for: in a forked child, which leaves its results on disk where they are looked for.
#pragma once

#include "harness/base/error.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>

namespace assay {

class BackgroundProcess {
 public:
  BackgroundProcess() = default;
  BackgroundProcess(const BackgroundProcess&) = delete;
  BackgroundProcess& operator=(const BackgroundProcess&) = delete;
  ~BackgroundProcess() { stop(); }

  // Calls `work` in a child, which yields the processors to everybody else, holds none of this process's
  // files but standard output and error, and dies with the thread that called. Of the threads it has that one
  // alone: `work` must not need another. One at a time.
  void start(const std::function<Result<void>()>& work);
  bool running() const { return pid_ > 0; }

  // How it ended, once; nothing: it is still at it. The error of `work`, whatever its kind, is a user error
  // that says what it said; a child that was killed, or is after `limit` (it is then killed), an internal
  // one.
  std::optional<Result<void>> ended(std::chrono::seconds limit);
  void stop();

 private:
  std::string said();

  pid_t pid_ = -1;
  int pipe_ = -1; // on which the child says what went wrong
  std::chrono::steady_clock::time_point began_;
};

} // namespace assay
