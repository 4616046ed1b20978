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

// The texts of a file and of what it includes of the user's own.
Result<std::vector<std::string>> texts_of(const fs::path& source, const std::vector<fs::path>& include_dirs) {
  ASSAY_TRY(std::string text, read_file(source));
  std::vector<fs::path> folders{source.parent_path()};
  folders.insert(folders.end(), include_dirs.begin(), include_dirs.end());
  IncludeScan scan = scan_includes(source, text, folders);
  if (scan.computed) return user_error({source.string()}, "what it includes is not known");
  std::vector<std::string> texts{std::move(text)};
  for (IncludedFile& file : scan.files) texts.push_back(std::move(file.text));
  return texts;
}

} // namespace

TriageCache::TriageCache(fs::path folder, std::string device)
    : folder_(std::move(folder)), device_(std::move(device)) {
  if (folder_.empty()) return;
  const auto program = read_file("/proc/self/exe", largest_program);
  if (program)
    program_ = content_hash(*program);
  else
    folder_.clear();
}

std::string TriageCache::key(const Case& test_case, const fs::path& file, const std::string& wanted) const {
  if (folder_.empty()) return {};
  const auto path = find_manifest(test_case, file);
  const auto manifest = path ? load_manifest(*path) : std::unexpected(path.error());
  if (!manifest) return {};
  const auto manifest_text = read_file(*path);
  const auto source = texts_of(manifest->source, manifest->include_dirs);
  if (!manifest_text || !source) return {};
  std::string all;
  const auto add = [&](const std::string& field) { all += fmt::format("{}:{}\n", field.size(), field); };
  for (const std::string& field :
       {program_, device_, path->string(), *manifest_text, to_text(test_case), wanted})
    add(field);
  for (const std::string& text : *source) add(text);
  if (manifest->op.ends_with(".h")) {
    const auto formula = texts_of(manifest->path.parent_path() / manifest->op, {});
    if (!formula) return {};
    for (const std::string& text : *formula) add(text);
  }
  return content_hash(all);
}

fs::path TriageCache::file_of(const std::string& key) const {
  return folder_ / "triage" / key.substr(0, 2) / (key + ".json");
}

std::optional<Examined> TriageCache::load(const std::string& key) const {
  if (key.empty()) return std::nullopt;
  const auto text = read_file(file_of(key));
  return text ? parse_examined(*text) : std::nullopt;
}

void TriageCache::store(const std::string& key, const std::string& examined_json) const {
  if (key.empty()) return;
  const auto ignored = write_file(file_of(key), examined_json);
  (void)ignored;
}

} // namespace assay
