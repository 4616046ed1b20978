// A folder of its own among the machine's temporary files, removed at its end.
#pragma once

#include "harness/base/error.h"

#include <filesystem>
#include <string_view>
#include <utility>

namespace assay {

class ScratchFolder {
 public:
  // `purpose` is part of its name. Environment error: it cannot be made.
  static Result<ScratchFolder> create(std::string_view purpose);
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }
  // What is in it is still wanted: it is not removed.
  void keep() { path_.clear(); }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

} // namespace assay
