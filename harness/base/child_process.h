// Another program, or a fork of this one, run to its end.
#pragma once

#include "harness/base/error.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct ChildRun {
  bool in_time = true; // false: a limit ended it
  int exit = 0;        // its exit code; 128 + N where signal N ended it
  std::string out;     // standard output
  std::string log;     // standard error
};

// Runs it in this process's folder and environment, its input given, what it writes taken. It is ended after
// `patience` by the clock, or `processor` of its own time (0: no limit), which a busy machine does not spend.
// One that cannot be started is an environment error.
Result<ChildRun> run_child(const std::filesystem::path& program, const std::vector<std::string>& args,
                           std::string_view input, std::chrono::seconds patience,
                           std::chrono::seconds processor = {});

struct ForkLimits {
  std::chrono::seconds patience{600}, processor{0}; // as above
  std::size_t bytes = 0;                            // of memory beyond what it begins with; 0: no limit
};

struct ForkedRun {
  bool in_time = true;
  int exit = 0;           // likewise; 0: `text` is what the work returned
  std::string text;       // what it returned
  std::string last_words; // of end_process (last_words.h), and of an exception
};

// Calls work() in a fork of this process, whatever it does there: crash, hang, use up the memory, exit. It
// has no signal handlers, no standard input, and writes on standard error where it writes on standard output;
// it dies with the caller. The caller has no other thread that holds what `work` needs.
Result<ForkedRun> run_forked(const std::function<std::string()>& work, const ForkLimits& limits);

// "was killed by signal 11 (Segmentation fault)", "ended with exit status 3".
std::string how_it_ended(int exit);

} // namespace assay
