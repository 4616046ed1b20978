// A corpus: a folder of cases in canonical text, each named by its content's hash, so that adding one twice,
// or by two processes at once, leaves one file. libFuzzer reads and writes the same folder.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

class Corpus {
 public:
  explicit Corpus(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The file that holds the case from now on, and whether it is new.
  struct Added {
    std::filesystem::path file;
    bool is_new = false;
  };
  Result<Added> add(const Case& test_case) const;

  // The regular files of the folder and of those below it, sorted by path, hidden ones left out. A folder
  // that is not there is empty; one that cannot be read is a user error.
  Result<std::vector<std::filesystem::path>> files() const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

} // namespace assay
