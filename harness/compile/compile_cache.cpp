#include "harness/compile/compile_cache.h"

#include "harness/base/files.h"
#include "harness/base/hash.h"

#include <fmt/format.h>

#include <charconv>

namespace assay {
namespace {

constexpr std::string_view magic = "assay-ptx 1 "; // then the hash of all that follows its line

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

std::filesystem::path cache_path(const std::filesystem::path& dir, const std::string& key) {
  return dir / "ptx" / key.substr(0, 2) / (key + ".ptx");
}

std::optional<CacheEntry> cache_load(const std::filesystem::path& dir, const std::string& key) {
  std::error_code error;
  const std::filesystem::path path = cache_path(dir, key);
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  const Result<std::string> file = read_file(path);
  if (!file || !file->starts_with(magic)) return std::nullopt;
  std::string_view body = *file;
  const std::size_t line = body.find('\n');
  if (line == std::string_view::npos) return std::nullopt;
  const std::string_view hash = body.substr(magic.size(), line - magic.size());
  body.remove_prefix(line + 1);
  if (hash != content_hash(body)) return std::nullopt;

  std::optional<std::string> stored_key = take(body), log = take(body), ptx = take(body);
  if (!stored_key || *stored_key != key || !log || !ptx) return std::nullopt;
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
  put(body, key);
  put(body, entry.log);
  put(body, entry.ptx);
  for (const auto& [name, mangled] : entry.entries) {
    put(body, name);
    put(body, mangled);
  }
  return write_file(cache_path(dir, key), fmt::format("{}{}\n{}", magic, content_hash(body), body))
      .has_value();
}

} // namespace assay
