#include "harness/cases/manifest_tables.h"
#include "harness/cases/names.h"

namespace assay::manifest_tables {

using namespace toml_reader;

namespace {

// Every ${...} names T, a dim or a let.
Result<void> check_kernel(std::string_view kernel, const Place& place, const Names& names) {
  if (kernel.empty()) return user_error(place, "kernel is empty");
  for (std::size_t at = kernel.find("${"); at != std::string_view::npos; at = kernel.find("${", at + 1)) {
    const std::size_t end = kernel.find('}', at);
    if (end == std::string_view::npos) return user_error(place, "kernel \"{}\" has a ${{ without }}", kernel);
    const std::string_view name = kernel.substr(at + 2, end - at - 2);
    if (name != "T" && !names.is_integer(name))
      return user_error(place, "kernel \"{}\": ${{{}}} is neither T nor a dim nor a let", kernel, name);
  }
  return {};
}

// NAME, NAME:i32, NAME:i64, NAME.stride(i) with or without a width, memref:NAME, 0, null.
Result<ArgumentText> read_argument(std::string_view text, const Place& place, const Names& names) {
  using Form = ArgumentText::Form;
  ArgumentText argument;
  argument.place = place;
  const auto malformed = [&] {
    return user_error(
        place, "argument \"{}\" must be NAME, NAME:i32, NAME:i64, NAME.stride(i), memref:NAME, 0 or null",
        text);
  };
  if (text == "0" || text == "null") {
    argument.form = text == "0" ? Form::zero : Form::null;
    return argument;
  }
  if (constexpr std::string_view memref = "memref:"; text.starts_with(memref)) {
    argument.form = Form::memref;
    argument.name = text.substr(memref.size());
    return is_name(argument.name) ? Result<ArgumentText>(argument) : malformed();
  }
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    argument.width = parse_dtype(text.substr(colon + 1));
    if (argument.width != DType::i32 && argument.width != DType::i64) return malformed();
  }
  const std::string_view value = text.substr(0, colon);
  if (const std::size_t dot = value.find(".stride("); dot != std::string_view::npos) {
    const std::string_view index = value.substr(dot + 8);
    if (index.size() != 2 || index[0] < '0' || index[0] > '7' || index[1] != ')') return malformed();
    argument.form = Form::stride;
    argument.stride_dim = index[0] - '0';
    argument.name = value.substr(0, dot);
  } else {
    argument.name = value;
    if (argument.width && !names.is_integer(argument.name))
      return user_error(place, "argument \"{}\": only dims, lets and strides have a width, and {} is none",
                        text, argument.name);
  }
  if (!is_name(argument.name)) return malformed();
  return argument;
}

Result<LaunchText> read_launch(const toml::table& values, const Place& place, const Names& names) {
  TableReader reader(values, place, "[[launch]]");
  LaunchText launch;
  launch.place = place;
  ASSAY_TRY(const std::optional<std::string> pass, reader.optional_string("pass"));
  if (pass) {
    const std::optional<Pass> known = parse_pass(*pass);
    if (!known)
      return user_error(reader.place_of_key("pass"), "pass must be \"forward\" or \"backward\", not \"{}\"",
                        *pass);
    launch.pass = *known;
  }
  ASSAY_TRY(launch.kernel, reader.require_string("kernel"));
  ASSAY_TRY_VOID(check_kernel(launch.kernel, reader.place_of_key("kernel"), names));
  ASSAY_TRY(launch.grid, names.expressions(reader, "grid", 1, 3));
  ASSAY_TRY(launch.block, names.expressions(reader, "block", 1, 3));
  if (const toml::node* shared = reader.find("shared")) {
    ASSAY_TRY(launch.shared, names.expression(*shared, "shared"));
  }
  ASSAY_TRY(const toml::node* args, reader.require("args"));
  ASSAY_TRY(const toml::array* items, list(*args, "args", reader.file()));
  for (const toml::node& item : *items) {
    ASSAY_TRY(const std::string text, string(item, "an argument", reader.file()));
    ASSAY_TRY(ArgumentText argument, read_argument(text, place_of(item, reader.file()), names));
    launch.args.push_back(std::move(argument));
  }
  ASSAY_TRY_VOID(reader.reject_unknown());
  return launch;
}

} // namespace

Result<void> read_launches(TableReader& root, const Names& names, Manifest& out) {
  ASSAY_TRY(const toml::node* node, root.require("launch"));
  const toml::array* launches = node->as_array();
  if (launches == nullptr)
    return user_error(place_of(*node, root.file()), "launch must be written [[launch]], one block a launch");
  if (launches->empty())
    return user_error(place_of(*node, root.file()), "launch is empty; name at least one [[launch]]");
  for (const toml::node& entry : *launches) {
    if (!entry.is_table())
      return user_error(place_of(entry, root.file()),
                        "launch must be written [[launch]], one block a launch");
    ASSAY_TRY(LaunchText launch, read_launch(*entry.as_table(), place_of(entry, root.file()), names));
    out.launches.push_back(std::move(launch));
  }
  if (std::ranges::none_of(out.launches, [](const LaunchText& l) { return l.pass == Pass::forward; }))
    return user_error(out.launches.front().place,
                      "no [[launch]] has pass = \"forward\"; backward runs after it");
  return {};
}

} // namespace assay::manifest_tables
