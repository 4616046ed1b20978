#include "harness/cases/manifest.h"

#include "harness/base/files.h"
#include "harness/cases/manifest_tables.h"

namespace assay {

namespace {

namespace fs = std::filesystem;

// Forty times what the largest of kernels/ has. It also bounds how deep tables nest (a dotted key of 100,000
// parts overflowed the stack where toml++ frees the tables).
constexpr std::size_t max_manifest_bytes = std::size_t{64} << 10;

Result<Manifest> read_manifest(const toml::table& table, const fs::path& path) {
  Manifest manifest;
  manifest.path = path;
  toml_reader::TableReader root(table, Place{path.string()}, "the manifest");
  manifest_tables::Names names(path.string());
  ASSAY_TRY_VOID(manifest_tables::read_head(root, manifest));
  ASSAY_TRY_VOID(manifest_tables::read_dims(root, names, manifest));
  ASSAY_TRY_VOID(manifest_tables::read_lets(root, names, manifest));
  ASSAY_TRY_VOID(manifest_tables::read_scratch(root, names, manifest));
  ASSAY_TRY_VOID(manifest_tables::read_params(root, names, manifest));
  ASSAY_TRY_VOID(manifest_tables::read_launches(root, names, manifest));
  ASSAY_TRY_VOID(manifest_tables::read_layout(root, manifest));
  ASSAY_TRY_VOID(manifest_tables::read_tolerance(root, manifest));
  ASSAY_TRY_VOID(root.reject_unknown());
  return manifest;
}

} // namespace

bool Manifest::has_backward() const {
  return std::ranges::any_of(launches, [](const LaunchText& l) { return l.pass == Pass::backward; });
}

Result<Manifest> parse_manifest(std::string_view text, const fs::path& path) {
  if (text.size() > max_manifest_bytes)
    return user_error(Place{path.string()}, "a manifest of {} bytes; at most {} are allowed", text.size(),
                      max_manifest_bytes);
  const toml::parse_result parsed = toml::parse(text, path.string());
  if (!parsed)
    return user_error(toml_reader::place_of(parsed.error().source(), path.string()), "{}",
                      parsed.error().description());
  return read_manifest(parsed.table(), path);
}

Result<Manifest> load_manifest(const fs::path& path) {
  ASSAY_TRY(const std::string text, read_file(path, max_manifest_bytes));
  return parse_manifest(text, path);
}

} // namespace assay
