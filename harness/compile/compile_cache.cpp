#include "harness/compile/compile_cache.h"

#include <fmt/format.h>

#include <charconv>

namespace assay {
namespace {

// Fields are "<length>\n<bytes>\n", so that any bytes survive.
void put(std::string& body, std::string_view field) { body += fmt::format("{}\n{}\n", field.size(), field); }

std::optional<std::string> take(std::string_view& body) {
  std::size_t length = 0;
  const auto number = std::from_chars(body.data(), body.data() + body.size(), length);
  const auto digits = static_cast<std::size_t>(number.ptr - body.data());
  if (number.ec != std::errc() || body.size() < digits + 2 || length > body.size() - digits - 2)
    return std::nullopt;
  std::string field(body.substr(digits + 1, length));
  body.remove_prefix(digits + 1 + length + 1);
  return field;
}

} // namespace

std::optional<CacheEntry> cache_load(const std::filesystem::path& dir, const std::string& key) {
  const std::optional<std::string> stored = ptx_cache(dir).load(key);
  if (!stored) return std::nullopt;
  std::string_view body = *stored;
  std::optional<std::string> log = take(body), ptx = take(body);
  if (!log || !ptx) return std::nullopt;
  CacheEntry entry{*std::move(ptx), *std::move(log), {}};
  while (!body.empty()) {
    std::optional<std::string> name = take(body), mangled = take(body);
    if (!name || !mangled) return std::nullopt;
    entry.entries.emplace(*std::move(name), *std::move(mangled));
  }
  return entry;
}

bool cache_store(const std::filesystem::path& dir, const std::string& key, const CacheEntry& entry) {
  std::string body;
  put(body, entry.log);
  put(body, entry.ptx);
  for (const auto& [name, mangled] : entry.entries) {
    put(body, name);
    put(body, mangled);
  }
  return ptx_cache(dir).store(key, body);
}

} // namespace assay
