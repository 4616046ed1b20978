// Stored cases as a regression test, each against its own `expect`.
#pragma once

#include "harness/base/error.h"
#include "harness/run/judge.h"
#include "harness/run/kernel.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay {

enum class ReplayStatus : std::uint8_t {
  passed, // as expected: nothing wrong, or failed with the very signature that is expected
  failed, // wrong where a pass is expected, or with another signature, or under a looser tolerance than
          // recorded
  fixed,  // expected to fail, and passes: counts as failed until the file is updated
  error,  // it could not be run: its kernel has vanished, say. Counts as failed, and is bad input
};
std::string_view name_of(ReplayStatus status);

struct ReplayOutcome {
  std::filesystem::path file;
  int line = 0; // of the file, where it says what is expected; 0: not known
  ReplayStatus status = ReplayStatus::passed;
  std::string why;                // one line
  std::vector<std::string> notes; // the source has changed, ...
  Judgement judgement;
};

// Loads kernels once for many cases.
class KernelCache {
 public:
  explicit KernelCache(Device& device, KernelOptions options = {})
      : device_(&device), options_(std::move(options)) {}
  Result<Kernel*> get(const std::filesystem::path& manifest);

 private:
  Device* device_;
  KernelOptions options_;
  std::map<std::filesystem::path, std::unique_ptr<Kernel>> kernels_;
};

// The manifest that a case names: a path (absolute, else relative to the working folder, else to a folder
// above the case's file), or a kernel's name, looked up below kernels/ of those folders. None: a user error
// at the case's file.
Result<std::filesystem::path> find_manifest(const Case& test_case, const std::filesystem::path& case_file);

// One case. `replacement`: the kernel put in place of the recorded one; the case is then expected to pass on
// it, whatever it expects of its own. Errors are those of reading, loading and running; nothing is ever
// skipped.
Result<ReplayOutcome> replay(const Case& test_case, const std::filesystem::path& case_file,
                             KernelCache& kernels,
                             const std::optional<std::filesystem::path>& replacement = std::nullopt);

} // namespace assay
