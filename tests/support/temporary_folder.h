// A folder of its own for a test, removed at its end.
#pragma once

#include "harness/base/scratch_folder.h"

#include <filesystem>
#include <fstream>
#include <string>

namespace assay {

class TemporaryFolder {
 public:
  const std::filesystem::path& path() const { return folder_.path(); }
  std::string operator/(const std::string& name) const { return (path() / name).string(); }
  // Writes a file below the folder and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

 private:
  ScratchFolder folder_ = ScratchFolder::create("test").value();
};

} // namespace assay
