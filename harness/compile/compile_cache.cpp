#include "harness/compile/compile_cache.h"

#include "harness/compile/fields.h"

namespace assay {

std::optional<CacheEntry> cache_load(const std::filesystem::path& dir, const std::string& key) {
  const std::optional<std::string> stored = ptx_cache(dir).load(key);
  if (!stored) return std::nullopt;
  std::string_view body = *stored;
  std::optional<std::string> log = take_field(body), ptx = take_field(body);
  if (!log || !ptx) return std::nullopt;
  CacheEntry entry{*std::move(ptx), *std::move(log), {}};
  while (!body.empty()) {
    std::optional<std::string> name = take_field(body), mangled = take_field(body);
    if (!name || !mangled) return std::nullopt;
    entry.entries.emplace(*std::move(name), *std::move(mangled));
  }
  return entry;
}

bool cache_store(const std::filesystem::path& dir, const std::string& key, const CacheEntry& entry) {
  std::string body;
  put_field(body, entry.log);
  put_field(body, entry.ptx);
  for (const auto& [name, mangled] : entry.entries) {
    put_field(body, name);
    put_field(body, mangled);
  }
  return ptx_cache(dir).store(key, body);
}

} // namespace assay
