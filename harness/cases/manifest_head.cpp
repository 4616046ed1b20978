#include "harness/cases/manifest_tables.h"
#include "harness/cases/names.h"

namespace assay::manifest_tables {

using namespace toml_reader;

namespace {

namespace fs = std::filesystem;

// The folder's name, plus ".<stem>" unless the file is kernel.toml.
std::string default_name(const fs::path& path) {
  std::error_code ignored;
  const fs::path absolute = fs::absolute(path, ignored).lexically_normal();
  std::string name = absolute.parent_path().filename().string();
  const std::string stem = absolute.stem().string();
  if (name.empty())
    name = stem;
  else if (absolute.filename() != "kernel.toml")
    name += "." + stem;
  for (char& c : name)
    if (!is_kernel_name(std::string(1, c)) && c != '.') c = '_';
  if (name.starts_with('.')) name.front() = '_';
  return name;
}

bool options_flush(const std::vector<std::string>& options) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    std::string_view option = options[i];
    if (option.starts_with("--")) option.remove_prefix(1);
    if (option == "-use_fast_math" || option == "-ftz=true") return true;
    if (option == "-ftz") return i + 1 == options.size() || options[i + 1] != "false";
  }
  return false;
}

Result<std::vector<std::string>> strings(TableReader& reader, std::string_view key) {
  std::vector<std::string> result;
  const toml::node* node = reader.find(key);
  if (node == nullptr) return result;
  ASSAY_TRY(const toml::array* items, list(*node, key, reader.file()));
  for (const toml::node& item : *items) {
    ASSAY_TRY(std::string value, string(item, key, reader.file()));
    if (value.empty()) return user_error(place_of(item, reader.file()), "{} has an empty string in it", key);
    if (value.find('\0') != std::string::npos)
      return user_error(place_of(item, reader.file()), "{} has a zero byte in it", key);
    result.push_back(std::move(value));
  }
  return result;
}

Result<void> read_dtypes(TableReader& root, Manifest& out) {
  ASSAY_TRY(const toml::node* node, root.require("dtypes"));
  ASSAY_TRY(const toml::array* values, list(*node, "dtypes", root.file()));
  if (values->empty())
    return user_error(place_of(*node, root.file()), "dtypes is empty; name at least one type");
  for (const toml::node& value : *values) {
    ASSAY_TRY(const std::string name, string(value, "a dtype", root.file()));
    const std::optional<DType> type = parse_dtype(name);
    if (!type || !is_float(*type))
      return user_error(place_of(value, root.file()),
                        "unknown dtype \"{}\"; there are f64, f32, f16, bf16, f8e4m3 and f8e5m2", name);
    if (std::ranges::find(out.dtypes, *type) != out.dtypes.end())
      return user_error(place_of(value, root.file()), "dtype {} is named twice", name);
    out.dtypes.push_back(*type);
  }
  return {};
}

} // namespace

Result<void> read_head(TableReader& root, Manifest& out) {
  const fs::path folder = out.path.parent_path();
  ASSAY_TRY(const std::optional<std::string> name, root.optional_string("name"));
  out.name = name ? *name : default_name(out.path);
  if (!is_kernel_name(out.name))
    return user_error(root.place_of_key("name"),
                      "name \"{}\" must be 1 to 100 letters, digits, '_', '-' or '.', and not start with '.'",
                      out.name);
  ASSAY_TRY(out.op, root.require_string("op"));
  if (!is_name(out.op) && !out.op.ends_with(".h"))
    return user_error(root.place_of_key("op"),
                      "op \"{}\" must be a built-in operator's name or a header (my_op.h)", out.op);
  ASSAY_TRY(const std::string source, root.require_string("source"));
  if (!source.ends_with(".cu") && !source.ends_with(".ptx") && !source.ends_with(".mlir"))
    return user_error(root.place_of_key("source"), "source \"{}\" must end in .cu, .ptx or .mlir", source);
  if (source.find('\0') != std::string::npos)
    return user_error(root.place_of_key("source"), "source has a zero byte in it");
  out.source = folder / source;
  ASSAY_TRY(out.options, strings(root, "options"));
  ASSAY_TRY(const std::vector<std::string> include, strings(root, "include"));
  for (const std::string& dir : include) out.include_dirs.push_back(folder / dir);
  ASSAY_TRY_VOID(read_dtypes(root, out));
  ASSAY_TRY(const std::optional<bool> deterministic, root.optional_bool("deterministic"));
  out.deterministic = deterministic.value_or(true);
  ASSAY_TRY(const std::optional<bool> flush, root.optional_bool("flush_subnormals"));
  out.flush_subnormals = flush.value_or(false) || options_flush(out.options);
  for (const std::string_view key :
       {"name", "op", "source", "options", "include", "dtypes", "deterministic", "flush_subnormals", "dims",
        "let", "launch", "scratch", "params", "layout", "tolerance"})
    if (root.find(key) != nullptr) out.places.emplace(key, root.place_of_key(key));
  return {};
}

} // namespace assay::manifest_tables
