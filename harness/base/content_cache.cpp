#include "harness/base/content_cache.h"

#include "harness/base/files.h"
#include "harness/base/hash.h"

#include <fmt/format.h>

namespace assay {

std::filesystem::path ContentCache::file_of(const std::string& key) const {
  return folder_ / kind_ / key.substr(0, 2) / (key + "." + kind_);
}

std::string ContentCache::head_of(const std::string& key, std::string_view bytes) const {
  return fmt::format("assay-{} 1 {} {}\n", kind_, key, content_hash(bytes));
}

std::optional<std::string> ContentCache::load(const std::string& key) const {
  if (!enabled()) return std::nullopt;
  const std::filesystem::path path = file_of(key);
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return std::nullopt;
  auto file = read_file(path);
  if (!file) return std::nullopt;
  const std::size_t line = file->find('\n');
  if (line == std::string::npos) return std::nullopt;
  std::string bytes = file->substr(line + 1);
  if (file->substr(0, line + 1) != head_of(key, bytes)) return std::nullopt;
  return bytes;
}

bool ContentCache::store(const std::string& key, std::string_view bytes) const {
  return enabled() && write_file(file_of(key), head_of(key, bytes).append(bytes)).has_value();
}

} // namespace assay
