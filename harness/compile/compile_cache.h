// Compiled PTX on disk. An entry holds the key it answers and a hash of itself; whatever does not check out,
// in any way, is a miss. Entries are written atomically, so that many workers may share a cache.
#pragma once

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

std::filesystem::path cache_path(const std::filesystem::path& dir, const std::string& key);

std::optional<CacheEntry> cache_load(const std::filesystem::path& dir, const std::string& key);
// False where it could not be written; nothing half-written stays.
bool cache_store(const std::filesystem::path& dir, const std::string& key, const CacheEntry& entry);

} // namespace assay
