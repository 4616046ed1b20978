// One assay-fuzz process: started, watched, ended. Its own output goes to a log file.
#pragma once

#include "harness/base/error.h"

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace assay {

struct WorkerCommand {
  std::filesystem::path program;
  std::vector<std::string> args;                                // without argv[0]
  std::vector<std::pair<std::string, std::string>> environment; // added to, or in place of, our own
  std::filesystem::path log;                                    // appended to
};

// How a process ended.
struct Ended {
  bool by_signal = false;
  int code = 0; // exit status, or the signal's number

  bool operator==(const Ended&) const = default;
};

std::string
describe(const Ended& ended); // "killed by signal 11 (Segmentation fault)", "exit status 71 (out of memory)"

class WorkerProcess {
 public:
  // The process is in a group of its own, so that Ctrl-C on the terminal reaches the campaign alone.
  static Result<WorkerProcess> start(const WorkerCommand& command);

  WorkerProcess(WorkerProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  WorkerProcess& operator=(WorkerProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~WorkerProcess(); // kills it if it still runs

  // How it ended, or nothing while it runs. Once it has ended it may not be asked again.
  std::optional<Ended> poll();
  void kill(int signal); // it, and what it has started

 private:
  explicit WorkerProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
};

// assay-fuzz, beside this program or where the build leaves it.
Result<std::filesystem::path> find_worker_program();

// How many workers the memory that is free now has room for; at least 1.
std::size_t affordable_workers();

// The last lines of a worker's log, which say what went wrong; " | " between them.
std::string last_log_lines(const std::filesystem::path& log, std::size_t most);

} // namespace assay
