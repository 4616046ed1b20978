#include "harness/report/triage_cache.h"

#include "harness/base/files.h"
#include "harness/base/hash.h"
#include "harness/compile/includes.h"

#include <utility>
#include <vector>

namespace assay {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_program = std::size_t{1} << 30;

// Of a file and of what it includes of the user's own.
Result<std::string> hash_of(const fs::path& source, const std::vector<fs::path>& include_dirs) {
  ASSAY_TRY(const std::string text, read_file(source));
  std::vector<fs::path> folders{source.parent_path()};
  folders.insert(folders.end(), include_dirs.begin(), include_dirs.end());
  const IncludeScan scan = scan_includes(source, text, folders);
  if (scan.computed) return user_error({source.string()}, "what it includes is not known");
  return hash_with_includes(text, scan);
}

} // namespace

TriageCache::TriageCache(fs::path folder, std::string device)
    : cache_(std::move(folder), "triage"), device_(std::move(device)) {
  if (!cache_.enabled()) return;
  if (const auto program = read_file("/proc/self/exe", largest_program)) program_ = content_hash(*program);
}

std::string TriageCache::key(const Case& test_case, const fs::path& file, const std::string& wanted) const {
  if (program_.empty()) return {};
  const auto path = find_manifest(test_case, file);
  const auto manifest = path ? load_manifest(*path) : std::unexpected(path.error());
  if (!manifest) return {};
  const auto manifest_text = read_file(*path);
  const auto source = hash_of(manifest->source, manifest->include_dirs);
  if (!manifest_text || !source) return {};
  std::string all;
  const auto add = [&](const std::string& field) { all += fmt::format("{}:{}\n", field.size(), field); };
  for (const std::string& field :
       {program_, device_, path->string(), *manifest_text, to_text(test_case), wanted})
    add(field);
  add(*source);
  if (manifest->op.ends_with(".h")) {
    const auto formula = hash_of(manifest->path.parent_path() / manifest->op, {});
    if (!formula) return {};
    add(*formula);
  }
  return content_hash(all);
}

std::optional<Examined> TriageCache::load(const std::string& key) const {
  if (key.empty()) return std::nullopt;
  const auto text = cache_.load(key);
  return text ? parse_examined(*text) : std::nullopt;
}

void TriageCache::store(const std::string& key, const std::string& examined_json) const {
  if (key.empty()) return;
  cache_.store(key, examined_json);
}

} // namespace assay
