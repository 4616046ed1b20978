// Another program run to its end: its input given, what it writes taken.
#pragma once

#include "harness/base/error.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct ChildRun {
  bool in_time = true; // false: it was still at work when patience ended, and was ended too
  int exit = 0;        // its exit code; 128 + N where signal N ended it
  std::string out;     // standard output
  std::string log;     // standard error
};

// Runs it in this process's folder and environment. One that cannot be started, or that is still at work
// after `patience` (it is then ended), is an environment error.
Result<ChildRun> run_child(const std::filesystem::path& program, const std::vector<std::string>& args,
                           std::string_view input, std::chrono::seconds patience);

} // namespace assay
