#include "harness/cases/manifest_tables.h"

namespace assay::manifest_tables {

using namespace toml_reader;

Result<void> read_scratch(TableReader& root, Names& names, Manifest& out) {
  const toml::node* node = root.find("scratch");
  if (node == nullptr) return {};
  ASSAY_TRY(const toml::table* scratch, table(*node, "scratch", root.file()));
  for (const Entry& entry : entries_in_file_order(*scratch, root.file())) {
    ASSAY_TRY_VOID(names.declare(entry.key, entry.place, "scratch buffer"));
    const std::string what = fmt::format("scratch {}", entry.key);
    ASSAY_TRY(const toml::table* buffer, table(*entry.node, what, root.file()));
    TableReader reader(*buffer, entry.place, what);
    ScratchText text;
    text.name = entry.key;
    text.place = entry.place;
    ASSAY_TRY(text.shape, names.expressions(reader, "shape", 1, 8));
    ASSAY_TRY(const std::string dtype, reader.require_string("dtype"));
    if (dtype != "T") {
      text.dtype = parse_dtype(dtype);
      if (!text.dtype || *text.dtype == DType::f8e4m3 || *text.dtype == DType::f8e5m2)
        return user_error(
            reader.place_of_key("dtype"),
            "unknown scratch dtype \"{}\"; there are T, f64, f32, f16, bf16, i64, i32, i8 and u8", dtype);
    }
    ASSAY_TRY(const std::optional<bool> zero, reader.optional_bool("zero"));
    text.zero = zero.value_or(false);
    ASSAY_TRY_VOID(reader.reject_unknown());
    out.scratch.push_back(std::move(text));
  }
  return {};
}

Result<void> read_params(TableReader& root, Names& names, Manifest& out) {
  const toml::node* node = root.find("params");
  if (node == nullptr) return {};
  ASSAY_TRY(const toml::table* params, table(*node, "params", root.file()));
  for (const Entry& entry : entries_in_file_order(*params, root.file())) {
    ASSAY_TRY_VOID(names.declare(entry.key, entry.place, "param"));
    ParamText text;
    text.name = entry.key;
    text.place = entry.place;
    const std::string what = fmt::format("param {}", entry.key);
    if (const toml::array* choices = entry.node->as_array()) {
      for (const toml::node& choice : *choices) {
        ASSAY_TRY(const double value, number(choice, what, root.file()));
        if (std::ranges::find(text.values, value) != text.values.end())
          return user_error(place_of(choice, root.file()), "{} names {} twice", what, value);
        text.values.push_back(value);
      }
      if (text.values.empty()) return user_error(entry.place, "{} has no value to choose from", what);
    } else {
      ASSAY_TRY(const double value, number(*entry.node, what, root.file()));
      text.values.push_back(value);
    }
    out.params.push_back(std::move(text));
  }
  return {};
}

Result<void> read_layout(TableReader& root, Manifest& out) {
  const toml::node* node = root.find("layout");
  if (node == nullptr) return {};
  ASSAY_TRY(const toml::table* layouts, table(*node, "layout", root.file()));
  for (const Entry& entry : entries_in_file_order(*layouts, root.file())) {
    LayoutText layout;
    layout.tensor = entry.key;
    layout.place = entry.place;
    const auto apply = [&](const toml::node& value) -> Result<void> {
      ASSAY_TRY(const std::string word, string(value, "a layout", root.file()));
      if (word == "strided")
        layout.strided = true;
      else if (word == "row_strided")
        layout.row_strided = true;
      else if (word == "offset")
        layout.offset = true;
      else
        return user_error(place_of(value, root.file()),
                          "unknown layout \"{}\"; there are strided, row_strided and offset", word);
      return {};
    };
    if (const toml::array* words = entry.node->as_array()) {
      if (words->empty()) return user_error(entry.place, "layout {} is empty", entry.key);
      for (const toml::node& word : *words) ASSAY_TRY_VOID(apply(word));
    } else {
      ASSAY_TRY_VOID(apply(*entry.node));
    }
    out.layout.push_back(std::move(layout));
  }
  return {};
}

} // namespace assay::manifest_tables
