// Compiled PTX on disk (base/content_cache.h).
#pragma once

#include "harness/base/content_cache.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace assay {

struct CacheEntry {
  std::string ptx;
  std::string log;
  std::map<std::string, std::string> entries; // name expression -> mangled

  bool operator==(const CacheEntry&) const = default;
};

inline ContentCache ptx_cache(std::filesystem::path folder) { return {std::move(folder), "ptx"}; }

std::optional<CacheEntry> cache_load(const std::filesystem::path& dir, const std::string& key);
// False where it could not be written; nothing half-written stays.
bool cache_store(const std::filesystem::path& dir, const std::string& key, const CacheEntry& entry);

} // namespace assay
