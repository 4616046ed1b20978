#include "harness/run/user_operator.h"

#include "harness/base/files.h"
#include "harness/compile/host_library.h"
#include "harness/ops/compiled_operator.h"
#include "harness/run/operator_trial.h"

#include <algorithm>
#include <dlfcn.h>
#include <map>

namespace assay {
namespace {

namespace fs = std::filesystem;

// Checks that fail are the formula's where the header's vocabulary makes them, else Assay's own.
constexpr std::string_view behind_header = R"cpp(
#include "harness/ops/compiled_operator.h"
#include "harness/ops/formula_op.h"

#include <cstdio>
#include <string_view>
#include <unistd.h>

namespace assay {{

void check_failed(const char* file, int line, const char* condition, const std::string& message) {{
  const std::string_view where = file;
  const bool of_formula = where.ends_with("ops/line.h") || where.ends_with("ops/evaluation.cpp");
  if (of_formula)
    fmt::print(stderr, "assay: {{}}: {{}}\n", {header}, message);
  else
    fmt::print(stderr, "assay: internal fault at {{}}:{{}}: {{}} ({{}})\n", file, line, message, condition);
  std::fflush(stderr);
  _exit(of_formula ? 2 : 70);
}}

}} // namespace assay

extern "C" [[gnu::visibility("default")]] void assay_operator(assay::CompiledOperator& result) {{
  using Formula = assay::{name};
  result.layout = assay::operator_layout;
  result.fault = assay::fault_in(assay::declarations_of<Formula>());
  if (!result.fault) result.op = &assay::op_of<Formula>();
}}
)cpp";

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

// The line of the header in which a declared name stands.
Place place_of(const fs::path& header, std::string_view text, const std::string& word) {
  const std::size_t at = word.empty() ? std::string_view::npos : text.find('"' + word + '"');
  if (at == std::string_view::npos) return {header.string()};
  return {header.string(), 1 + static_cast<int>(std::ranges::count(text.substr(0, at), '\n')), 0};
}

Result<const Op*> load(const fs::path& header, const fs::path& cache_dir) {
  const std::string stem = header.stem().string(), name = formula_name(stem);
  auto text = read_file(header, std::size_t{1} << 20);
  if (!text) return std::unexpected(Error{ErrorKind::user, text.error().message, Place{header.string()}});

  HostLibraryRequest request;
  request.header = header;
  request.header_text = *text;
  request.text =
      fmt::format(behind_header, fmt::arg("header", quoted(header.string())), fmt::arg("name", name));
  request.compiler = ASSAY_HOST_COMPILER;
  request.options = split(ASSAY_HOST_OPTIONS, ' ');
  request.include_dirs = {ASSAY_SOURCE_ROOT};
  for (const std::string& archive : split(ASSAY_OPERATOR_ARCHIVES, ','))
    request.archives.emplace_back(archive);
  request.libraries = {"fmt"};
  auto library = host_library(request, cache_dir);
  if (!library) {
    Error error = std::move(library).error();
    if (error.message.find(fmt::format("'{}'", name)) != std::string::npos && error.place.line == 0)
      error.message = fmt::format("defines no struct assay::{}, which an operator in {} is called", name,
                                  header.filename().string());
    return std::unexpected(std::move(error));
  }

  void* handle = ::dlopen(fs::absolute(*library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return internal_error("{}", ::dlerror());
  const auto entry = reinterpret_cast<CompiledOperatorEntry>(::dlsym(handle, "assay_operator"));
  if (entry == nullptr) return internal_error("{}: {}", library->string(), ::dlerror());
  CompiledOperator compiled;
  entry(compiled);
  if (compiled.layout != operator_layout)
    return environment_error(Place{header.string()},
                             "Assay's headers are not those that it was built from: build it again");
  if (compiled.fault)
    return user_error(place_of(header, *text, compiled.fault->word), "{}", compiled.fault->message);
  if (compiled.op->info().name != stem)
    return user_error(place_of(header, *text, compiled.op->info().name),
                      "the operator's name is \"{}\", and its file is called {}", compiled.op->info().name,
                      header.filename().string());
  try_formulas(*compiled.op);
  if (const auto wrong = gradient_fault(*compiled.op))
    return user_error(place_of(header, *text, wrong->tensor), "{}", wrong->message);
  return compiled.op;
}

} // namespace

std::string formula_name(std::string_view name) {
  std::string result;
  bool capital = true;
  for (const char c : name) {
    if (c == '_') {
      capital = true;
      continue;
    }
    result += capital && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    capital = false;
  }
  return result;
}

bool is_user_operator(std::string_view op) { return op.ends_with(".h"); }

Result<const Op*> load_user_operator(const fs::path& header, const fs::path& cache_dir) {
  static std::map<fs::path, const Op*> loaded;
  std::error_code error;
  const fs::path key = fs::weakly_canonical(header, error);
  if (const auto found = loaded.find(key); found != loaded.end()) return found->second;
  ASSAY_TRY(const Op* op, load(header, cache_dir));
  loaded.emplace(key, op);
  return op;
}

} // namespace assay
