// The real programs, run as a user runs them.
#pragma once

#include "tests/support/temporary_folder.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace assay::testing {

struct ProgramRun {
  int exit = -1;   // exit status; 128 + signal where one ended it
  std::string out; // standard output
  std::string err; // standard error
  double seconds = 0;
};

struct ProgramOptions {
  std::vector<std::pair<std::string, std::string>> environment = {}; // beside our own
  std::filesystem::path folder = {}; // to run in; empty: the top of the checkout
  bool unprivileged = false;         // as nobody, where we are root: permissions then mean something
  std::function<void(int pid)> while_running = {}; // called once the program has started
};

ProgramRun run_program(const std::string& program, const std::vector<std::string>& args,
                       const ProgramOptions& options = {});
ProgramRun run_assay(const std::vector<std::string>& args, const ProgramOptions& options = {});
ProgramRun run_assay_fuzz(const std::vector<std::string>& args, const ProgramOptions& options = {});

std::string assay_program();      // its path
std::filesystem::path checkout(); // its top

std::string slurp(const std::filesystem::path& file);

// The text with one occurrence of `from` replaced; the test fails where there is none.
std::string replaced(std::string text, const std::string& from, const std::string& to);

// A copy of kernels/<name> and of what it includes, to be edited; the path of its manifest.
std::filesystem::path copy_kernel(const std::string& name, const TemporaryFolder& to);

// Process ids of a process's children.
std::vector<int> children_of(int pid);

} // namespace assay::testing
