// What triage found out about a case, kept so that the next triage need not run it again: by the content of
// everything that it follows from, the case, the manifest, the source with its own includes, the device and
// this very program.
#pragma once

#include "harness/base/content_cache.h"
#include "harness/report/triage_examine.h"

#include <filesystem>
#include <optional>
#include <string>

namespace assay {

class TriageCache {
 public:
  // folder: of all caches; empty: nothing is kept.
  TriageCache(std::filesystem::path folder, std::string device);

  // Empty where nothing can be kept: the case's kernel cannot be read, say.
  std::string key(const Case& test_case, const std::filesystem::path& file, const std::string& wanted) const;
  std::optional<Examined> load(const std::string& key) const;
  // Where it cannot be written, that costs time alone.
  void store(const std::string& key, const std::string& examined_json) const;

 private:
  ContentCache cache_;
  std::string device_, program_; // program_: empty where nothing is kept
};

} // namespace assay
