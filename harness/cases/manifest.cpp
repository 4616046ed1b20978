#include "harness/cases/manifest.h"

#include "harness/base/files.h"
#include "harness/cases/names.h"
#include "harness/cases/toml_reader.h"

#include <fmt/ranges.h>

#include <array>
#include <map>

namespace assay {

namespace {

using namespace toml_reader;
namespace fs = std::filesystem;

constexpr std::size_t max_manifest_bytes = std::size_t{1} << 20;
constexpr std::int64_t max_dim = std::int64_t{1} << 40;

// Reads one manifest; every function below fills its part of `out_`.
class ManifestReader {
 public:
  ManifestReader(const toml::table& root, const fs::path& path, Manifest& out)
      : root_(root, Place{path.string()}, "the manifest"), file_(path.string()), folder_(path.parent_path()),
        out_(out) {
    out_.path = path;
  }

  Result<void> run() {
    ASSAY_TRY_VOID(read_head());
    ASSAY_TRY_VOID(read_dims());
    ASSAY_TRY_VOID(read_lets());
    ASSAY_TRY_VOID(read_scratch());
    ASSAY_TRY_VOID(read_params());
    ASSAY_TRY_VOID(read_launches());
    ASSAY_TRY_VOID(read_layout());
    ASSAY_TRY_VOID(read_tolerance());
    return root_.reject_unknown();
  }

 private:
  Result<void> read_head() {
    ASSAY_TRY(const std::optional<std::string> name, root_.optional_string("name"));
    out_.name = name ? *name : default_name();
    if (!is_kernel_name(out_.name))
      return user_error(
          root_.place_of_key("name"),
          "name \"{}\" must be 1 to 100 letters, digits, '_', '-' or '.', and not start with '.'", out_.name);
    ASSAY_TRY(out_.op, root_.require_string("op"));
    if (!is_name(out_.op) && !out_.op.ends_with(".h"))
      return user_error(root_.place_of_key("op"),
                        "op \"{}\" must be a built-in operator's name or a header (my_op.h)", out_.op);
    ASSAY_TRY(const std::string source, root_.require_string("source"));
    if (!source.ends_with(".cu") && !source.ends_with(".ptx") && !source.ends_with(".mlir"))
      return user_error(root_.place_of_key("source"), "source \"{}\" must end in .cu, .ptx or .mlir", source);
    if (source.find('\0') != std::string::npos)
      return user_error(root_.place_of_key("source"), "source has a zero byte in it");
    out_.source = folder_ / source;
    ASSAY_TRY(out_.options, strings(root_, "options"));
    ASSAY_TRY(const std::vector<std::string> include, strings(root_, "include"));
    for (const std::string& dir : include) out_.include_dirs.push_back(folder_ / dir);
    ASSAY_TRY_VOID(read_dtypes());
    ASSAY_TRY(const std::optional<bool> deterministic, root_.optional_bool("deterministic"));
    out_.deterministic = deterministic.value_or(true);
    ASSAY_TRY(const std::optional<bool> flush, root_.optional_bool("flush_subnormals"));
    out_.flush_subnormals = flush.value_or(false) || options_flush();
    for (const std::string_view key :
         {"name", "op", "source", "options", "include", "dtypes", "deterministic", "flush_subnormals", "dims",
          "let", "launch", "scratch", "params", "layout", "tolerance"})
      if (root_.find(key) != nullptr) out_.places.emplace(key, root_.place_of_key(key));
    return {};
  }

  // The folder's name, plus ".<stem>" unless the file is kernel.toml.
  std::string default_name() const {
    std::error_code ignored;
    const fs::path absolute = fs::absolute(out_.path, ignored).lexically_normal();
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

  bool options_flush() const {
    for (std::size_t i = 0; i < out_.options.size(); ++i) {
      std::string_view option = out_.options[i];
      if (option.starts_with("--")) option.remove_prefix(1);
      if (option == "-use_fast_math" || option == "-ftz=true") return true;
      if (option == "-ftz") return i + 1 == out_.options.size() || out_.options[i + 1] != "false";
    }
    return false;
  }

  Result<void> read_dtypes() {
    ASSAY_TRY(const toml::node* node, root_.require("dtypes"));
    ASSAY_TRY(const toml::array* values, list(*node, "dtypes", file_));
    if (values->empty()) return user_error(place_of(*node, file_), "dtypes is empty; name at least one type");
    for (const toml::node& value : *values) {
      ASSAY_TRY(const std::string name, string(value, "a dtype", file_));
      const std::optional<DType> type = parse_dtype(name);
      if (!type || !is_float(*type))
        return user_error(place_of(value, file_),
                          "unknown dtype \"{}\"; there are f64, f32, f16, bf16, f8e4m3 and f8e5m2", name);
      if (std::ranges::find(out_.dtypes, *type) != out_.dtypes.end())
        return user_error(place_of(value, file_), "dtype {} is named twice", name);
      out_.dtypes.push_back(*type);
    }
    return {};
  }

  Result<void> read_dims() {
    ASSAY_TRY(const toml::node* node, root_.require("dims"));
    ASSAY_TRY(const toml::table* dims, table(*node, "dims", file_));
    if (dims->empty())
      return user_error(place_of(*node, file_), "[dims] is empty; name every dimension of the op");
    for (const Entry& entry : entries_in_file_order(*dims, file_)) {
      ASSAY_TRY_VOID(declare(entry.key, entry.place, "dim"));
      ASSAY_TRY(DimRange range, read_dim(entry));
      out_.dims.push_back(std::move(range));
    }
    return {};
  }

  Result<DimRange> read_dim(const Entry& entry) {
    DimRange range;
    range.name = entry.key;
    range.place = entry.place;
    if (entry.node->is_integer()) {
      range.min = range.max = entry.node->as_integer()->get();
    } else if (entry.node->is_table()) {
      TableReader reader(*entry.node->as_table(), entry.place, fmt::format("dim {}", entry.key));
      for (const auto& [key, slot] : {std::pair("min", &range.min), std::pair("max", &range.max)}) {
        ASSAY_TRY(const toml::node* value, reader.require(key));
        ASSAY_TRY(*slot, integer(*value, key, file_));
      }
      ASSAY_TRY(range.near, integers(reader, "near"));
      ASSAY_TRY(range.production, integers(reader, "production"));
      ASSAY_TRY(const std::optional<std::int64_t> multiple, reader.optional_integer("multiple_of"));
      range.multiple_of = multiple.value_or(1);
      ASSAY_TRY_VOID(reader.reject_unknown());
    } else {
      return user_error(place_of(*entry.node, file_),
                        "dim {} must be an integer or {{ min = ..., max = ... }}, not {}", entry.key,
                        type_name(*entry.node));
    }
    ASSAY_TRY_VOID(check_dim(range));
    return range;
  }

  Result<void> check_dim(const DimRange& range) const {
    const auto [name, min, max, near, production, multiple_of, place] = range;
    if (min < 0) return user_error(place, "dim {}: min = {} is negative", name, min);
    if (max > max_dim) return user_error(place, "dim {}: max = {} is larger than 2^40", name, max);
    if (min > max) return user_error(place, "dim {}: min = {} is larger than max = {}", name, min, max);
    if (multiple_of < 1)
      return user_error(place, "dim {}: multiple_of = {} must be at least 1", name, multiple_of);
    if (max / multiple_of * multiple_of < min)
      return user_error(place, "dim {}: no multiple of {} lies from {} to {}", name, multiple_of, min, max);
    for (const std::int64_t tile : near)
      if (tile < 1 || tile > max_dim)
        return user_error(place, "dim {}: near = {} must be from 1 to 2^40", name, tile);
    for (const std::int64_t size : production)
      if (size < min || size > max || size % multiple_of != 0)
        return user_error(place, "dim {}: production = {} is not a multiple of {} from {} to {}", name, size,
                          multiple_of, min, max);
    return {};
  }

  Result<void> read_lets() {
    const toml::node* node = root_.find("let");
    if (node == nullptr) return {};
    ASSAY_TRY(const toml::table* lets, table(*node, "let", file_));
    for (const Entry& entry : entries_in_file_order(*lets, file_)) {
      ASSAY_TRY(Expression value, expression(*entry.node, fmt::format("let {}", entry.key)));
      ASSAY_TRY_VOID(declare(entry.key, entry.place, "let")); // after its value: it may not use itself
      out_.lets.push_back({entry.key, std::move(value)});
    }
    return {};
  }

  Result<void> read_scratch() {
    const toml::node* node = root_.find("scratch");
    if (node == nullptr) return {};
    ASSAY_TRY(const toml::table* scratch, table(*node, "scratch", file_));
    for (const Entry& entry : entries_in_file_order(*scratch, file_)) {
      ASSAY_TRY_VOID(declare(entry.key, entry.place, "scratch buffer"));
      const std::string what = fmt::format("scratch {}", entry.key);
      ASSAY_TRY(const toml::table* buffer, table(*entry.node, what, file_));
      TableReader reader(*buffer, entry.place, what);
      ScratchText text;
      text.name = entry.key;
      text.place = entry.place;
      ASSAY_TRY(text.shape, expressions(reader, "shape", 1, 8));
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
      out_.scratch.push_back(std::move(text));
    }
    return {};
  }

  Result<void> read_params() {
    const toml::node* node = root_.find("params");
    if (node == nullptr) return {};
    ASSAY_TRY(const toml::table* params, table(*node, "params", file_));
    for (const Entry& entry : entries_in_file_order(*params, file_)) {
      ASSAY_TRY_VOID(declare(entry.key, entry.place, "param"));
      ParamText text;
      text.name = entry.key;
      text.place = entry.place;
      const std::string what = fmt::format("param {}", entry.key);
      if (const toml::array* choices = entry.node->as_array()) {
        for (const toml::node& choice : *choices) {
          ASSAY_TRY(const double value, number(choice, what, file_));
          if (std::ranges::find(text.values, value) != text.values.end())
            return user_error(place_of(choice, file_), "{} names {} twice", what, value);
          text.values.push_back(value);
        }
        if (text.values.empty()) return user_error(entry.place, "{} has no value to choose from", what);
      } else {
        ASSAY_TRY(const double value, number(*entry.node, what, file_));
        text.values.push_back(value);
      }
      out_.params.push_back(std::move(text));
    }
    return {};
  }

  Result<void> read_launches() {
    ASSAY_TRY(const toml::node* node, root_.require("launch"));
    const toml::array* launches = node->as_array();
    if (launches == nullptr)
      return user_error(place_of(*node, file_), "launch must be written [[launch]], one block a launch");
    if (launches->empty())
      return user_error(place_of(*node, file_), "launch is empty; name at least one [[launch]]");
    for (const toml::node& entry : *launches) {
      if (!entry.is_table())
        return user_error(place_of(entry, file_), "launch must be written [[launch]], one block a launch");
      ASSAY_TRY(LaunchText launch, read_launch(*entry.as_table(), place_of(entry, file_)));
      out_.launches.push_back(std::move(launch));
    }
    if (std::ranges::none_of(out_.launches, [](const LaunchText& l) { return l.pass == Pass::forward; }))
      return user_error(out_.launches.front().place,
                        "no [[launch]] has pass = \"forward\"; backward runs after it");
    return {};
  }

  Result<LaunchText> read_launch(const toml::table& values, const Place& place) {
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
    ASSAY_TRY_VOID(check_kernel(launch.kernel, reader.place_of_key("kernel")));
    ASSAY_TRY(launch.grid, expressions(reader, "grid", 1, 3));
    ASSAY_TRY(launch.block, expressions(reader, "block", 1, 3));
    if (const toml::node* shared = reader.find("shared")) {
      ASSAY_TRY(launch.shared, expression(*shared, "shared"));
    }
    ASSAY_TRY(const toml::node* args, reader.require("args"));
    ASSAY_TRY(const toml::array* items, list(*args, "args", file_));
    for (const toml::node& item : *items) {
      ASSAY_TRY(const std::string text, string(item, "an argument", file_));
      ASSAY_TRY(ArgumentText argument, read_argument(text, place_of(item, file_)));
      launch.args.push_back(std::move(argument));
    }
    ASSAY_TRY_VOID(reader.reject_unknown());
    return launch;
  }

  // Every ${...} names T, a dim or a let.
  Result<void> check_kernel(std::string_view kernel, const Place& place) const {
    if (kernel.empty()) return user_error(place, "kernel is empty");
    for (std::size_t at = kernel.find("${"); at != std::string_view::npos; at = kernel.find("${", at + 1)) {
      const std::size_t end = kernel.find('}', at);
      if (end == std::string_view::npos)
        return user_error(place, "kernel \"{}\" has a ${{ without }}", kernel);
      const std::string_view name = kernel.substr(at + 2, end - at - 2);
      if (name != "T" && !is_integer_name(name))
        return user_error(place, "kernel \"{}\": ${{{}}} is neither T nor a dim nor a let", kernel, name);
    }
    return {};
  }

  // NAME, NAME:i32, NAME:i64, NAME.stride(i), 0, null.
  Result<ArgumentText> read_argument(std::string_view text, const Place& place) const {
    using Form = ArgumentText::Form;
    ArgumentText argument;
    argument.place = place;
    const auto malformed = [&] {
      return user_error(place, "argument \"{}\" must be NAME, NAME:i32, NAME:i64, NAME.stride(i), 0 or null",
                        text);
    };
    if (text == "0" || text == "null") {
      argument.form = text == "0" ? Form::zero : Form::null;
      return argument;
    }
    if (const std::size_t dot = text.find(".stride("); dot != std::string_view::npos) {
      const std::string_view index = text.substr(dot + 8);
      if (index.size() != 2 || index[0] < '0' || index[0] > '7' || index[1] != ')') return malformed();
      argument.form = Form::stride;
      argument.stride_dim = index[0] - '0';
      argument.name = text.substr(0, dot);
    } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
      argument.width = parse_dtype(text.substr(colon + 1));
      if (argument.width != DType::i32 && argument.width != DType::i64) return malformed();
      argument.name = text.substr(0, colon);
      if (!is_integer_name(argument.name))
        return user_error(place, "argument \"{}\": only dims and lets have a width, and {} is neither", text,
                          argument.name);
    } else {
      argument.name = text;
    }
    if (!is_name(argument.name)) return malformed();
    return argument;
  }

  Result<void> read_layout() {
    const toml::node* node = root_.find("layout");
    if (node == nullptr) return {};
    ASSAY_TRY(const toml::table* layouts, table(*node, "layout", file_));
    for (const Entry& entry : entries_in_file_order(*layouts, file_)) {
      LayoutText layout;
      layout.tensor = entry.key;
      layout.place = entry.place;
      const auto apply = [&](const toml::node& value) -> Result<void> {
        ASSAY_TRY(const std::string word, string(value, "a layout", file_));
        if (word == "strided")
          layout.strided = true;
        else if (word == "row_strided")
          layout.row_strided = true;
        else if (word == "offset")
          layout.offset = true;
        else
          return user_error(place_of(value, file_),
                            "unknown layout \"{}\"; there are strided, row_strided and offset", word);
        return {};
      };
      if (const toml::array* words = entry.node->as_array()) {
        if (words->empty()) return user_error(entry.place, "layout {} is empty", entry.key);
        for (const toml::node& word : *words) ASSAY_TRY_VOID(apply(word));
      } else {
        ASSAY_TRY_VOID(apply(*entry.node));
      }
      out_.layout.push_back(std::move(layout));
    }
    return {};
  }

  Result<void> read_tolerance() {
    Tolerance& tolerance = out_.tolerance;
    tolerance.flush_subnormals = out_.flush_subnormals;
    const toml::node* node = root_.find("tolerance");
    if (node == nullptr) return {};
    ASSAY_TRY(const toml::table* values, table(*node, "tolerance", file_));
    TableReader reader(*values, place_of(*node, file_), "[tolerance]");
    const auto positive = [&](std::string_view key, bool zero_too) -> Result<std::optional<double>> {
      ASSAY_TRY(const std::optional<double> value, reader.optional_number(key));
      if (value && (*value < 0 || (*value == 0 && !zero_too)))
        return user_error(reader.place_of_key(key), "{} = {} must be {} 0", key, *value,
                          zero_too ? "at least" : "larger than");
      return value;
    };
    ASSAY_TRY(const std::optional<double> fudge, positive("fudge", false));
    ASSAY_TRY(const std::optional<double> atol, positive("atol", true));
    ASSAY_TRY(const std::optional<double> reference_limit, positive("reference_limit", false));
    ASSAY_TRY(tolerance.rms_limit, positive("rms_limit", false));
    ASSAY_TRY(tolerance.max_ulp, positive("max_ulp", true));
    ASSAY_TRY(const std::optional<std::string> evidence, reader.optional_string("evidence"));
    ASSAY_TRY_VOID(reader.reject_unknown());
    tolerance.fudge = fudge.value_or(tolerance.fudge);
    tolerance.atol = atol.value_or(tolerance.atol);
    tolerance.reference_limit = reference_limit.value_or(tolerance.reference_limit);
    tolerance.evidence = evidence.value_or("");
    if (tolerance.max_ulp && tolerance.evidence.empty())
      return user_error(reader.place_of_key("max_ulp"),
                        "max_ulp needs evidence = \"...\": why the bound is right");
    if (!tolerance.max_ulp && evidence)
      return user_error(reader.place_of_key("evidence"), "evidence belongs to max_ulp, which is not there");
    return {};
  }

  // --- names and values that several tables share ---

  Result<void> declare(const std::string& name, const Place& place, std::string_view kind) {
    if (!is_name(name))
      return user_error(
          place, "{} \"{}\" must be a name: letters, digits and '_', at most 64, no digit first", kind, name);
    if (name == "null" || name == "T") return user_error(place, "{} \"{}\" is a reserved name", kind, name);
    const auto [found, fresh] = declared_.emplace(name, kind);
    if (!fresh) return user_error(place, "{} \"{}\" has the name of a {}", kind, name, found->second);
    return {};
  }

  bool is_integer_name(std::string_view name) const {
    const auto found = declared_.find(name);
    return found != declared_.end() && (found->second == "dim" || found->second == "let");
  }

  Result<Expression> expression(const toml::node& node, std::string_view what) const {
    const Place place = place_of(node, file_);
    if (!node.is_string())
      return user_error(place, "{} must be an expression in a string, such as \"64\", not {}", what,
                        type_name(node));
    ASSAY_TRY(Expression result, Expression::parse(node.as_string()->get(), place));
    for (const std::string& name : result.names())
      if (!is_integer_name(name))
        return user_error(place, "{}: \"{}\" is neither a dim nor a let defined above", what, name);
    return result;
  }

  Result<std::vector<Expression>> expressions(TableReader& reader, std::string_view key, std::size_t least,
                                              std::size_t most) const {
    ASSAY_TRY(const toml::node* node, reader.require(key));
    ASSAY_TRY(const toml::array* items, list(*node, key, file_));
    if (items->size() < least || items->size() > most)
      return user_error(place_of(*node, file_), "{} must have {} to {} expressions, not {}", key, least, most,
                        items->size());
    std::vector<Expression> result;
    for (const toml::node& item : *items) {
      ASSAY_TRY(Expression value, expression(item, key));
      result.push_back(std::move(value));
    }
    return result;
  }

  Result<std::vector<std::int64_t>> integers(TableReader& reader, std::string_view key) const {
    std::vector<std::int64_t> result;
    const toml::node* node = reader.find(key);
    if (node == nullptr) return result;
    ASSAY_TRY(const toml::array* items, list(*node, key, file_));
    for (const toml::node& item : *items) {
      ASSAY_TRY(const std::int64_t value, integer(item, key, file_));
      result.push_back(value);
    }
    return result;
  }

  Result<std::vector<std::string>> strings(TableReader& reader, std::string_view key) const {
    std::vector<std::string> result;
    const toml::node* node = reader.find(key);
    if (node == nullptr) return result;
    ASSAY_TRY(const toml::array* items, list(*node, key, file_));
    for (const toml::node& item : *items) {
      ASSAY_TRY(std::string value, string(item, key, file_));
      if (value.find('\0') != std::string::npos)
        return user_error(place_of(item, file_), "{} has a zero byte in it", key);
      result.push_back(std::move(value));
    }
    return result;
  }

  TableReader root_;
  std::string file_;
  fs::path folder_;
  Manifest& out_;
  std::map<std::string, std::string, std::less<>>
      declared_; // name -> "dim", "let", "scratch buffer" or "param"
};

std::string one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(line, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return line;
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
    return user_error(place_of(parsed.error().source(), path.string()), "{}",
                      one_line(parsed.error().description()));
  Manifest manifest;
  ManifestReader reader(parsed.table(), path, manifest);
  ASSAY_TRY_VOID(reader.run());
  return manifest;
}

Result<Manifest> load_manifest(const fs::path& path) {
  ASSAY_TRY(const std::string text, read_file(path, max_manifest_bytes));
  return parse_manifest(text, path);
}

} // namespace assay
