// Results on disk under the hash of all that they were made from, so that many processes may share them. A
// file says which key it answers and holds a hash of itself; whatever does not check out, in any way, is a
// miss. A cache that cannot be read or written costs time, never correctness.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

class ContentCache {
 public:
  // One kind of results ("ptx") below the folder of all caches; an empty folder keeps nothing.
  ContentCache(std::filesystem::path folder, std::string kind)
      : folder_(std::move(folder)), kind_(std::move(kind)) {}

  bool enabled() const { return !folder_.empty(); }
  std::filesystem::path file_of(const std::string& key) const; // key: a content hash (hash.h)

  std::optional<std::string> load(const std::string& key) const;
  // Written whole or not at all: false.
  bool store(const std::string& key, std::string_view bytes) const;

 private:
  std::string head_of(const std::string& key, std::string_view bytes) const;

  std::filesystem::path folder_;
  std::string kind_;
};

} // namespace assay
