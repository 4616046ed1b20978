#include "harness/run/user_operator.h"

#include "harness/base/child_process.h"
#include "harness/base/files.h"
#include "harness/base/last_words.h"
#include "harness/compile/host_library.h"
#include "harness/ops/compiled_operator.h"
#include "harness/run/code_line.h"
#include "harness/run/operator_guard.h"
#include "harness/run/operator_trial.h"

#include <algorithm>
#include <charconv>
#include <dlfcn.h>
#include <map>

namespace assay {
namespace {

namespace fs = std::filesystem;

// A trial takes milliseconds: one evaluation in it, the whole of it, and that by the clock.
constexpr std::chrono::seconds usual_first_limit{10};
constexpr int evaluations_in_trial = 3, patience_in_trial = 12;

// Checks that fail are the formula's where the header's vocabulary makes them, else Assay's own.
constexpr std::string_view behind_header = R"cpp(
#include "harness/ops/compiled_operator.h"
#include "harness/ops/formula_op.h"

#include <string_view>
#include <unistd.h>

namespace assay {{

static void (*end_program)(int, std::string_view) noexcept = nullptr;

void check_failed(const char* file, int line, const char* condition, const std::string& message) {{
  const std::string_view where = file;
  const bool of_formula = where.ends_with("ops/line.h") || where.ends_with("ops/evaluation.cpp");
  const std::string told =
      of_formula ? std::string({header}) + ": " + message
                 : fmt::format("internal fault at {{}}:{{}}: {{}} ({{}})", file, line, message, condition);
  if (end_program != nullptr) end_program(of_formula ? 2 : 70, told);
  _exit(70);
}}

}} // namespace assay

extern "C" [[gnu::visibility("default")]] void assay_operator(assay::CompiledOperator& result) {{
  using Formula = assay::{name};
  assay::end_program = result.end_program;
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

// The library in this process. Its code runs: initialisers of the header's variables, its declarations.
Result<CompiledOperator> open(const UserCode& code) {
  void* handle = ::dlopen(code.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return internal_error("{}", ::dlerror());
  const auto entry = reinterpret_cast<CompiledOperatorEntry>(::dlsym(handle, "assay_operator"));
  if (entry == nullptr) return internal_error("{}: {}", code.library.string(), ::dlerror());
  CompiledOperator compiled;
  compiled.end_program = end_process;
  entry(compiled);
  if (compiled.layout != operator_layout)
    return environment_error(Place{code.header.string()},
                             "Assay's headers are not those that it was built from: build it again");
  return compiled;
}

// What its declarations and formulas show of it, in whatever process this is.
Result<void> examine(const UserCode& code, std::string_view text) {
  const auto opened = [&] {
    const OperatorGuard guard(code, nullptr, nullptr, evaluation_limit(usual_first_limit));
    return open(code);
  };
  ASSAY_TRY(const CompiledOperator compiled, opened());
  if (compiled.fault)
    return user_error(place_of(code.header, text, compiled.fault->word), "{}", compiled.fault->message);
  if (compiled.op->info().name != code.header.stem().string())
    return user_error(place_of(code.header, text, compiled.op->info().name),
                      "the operator's name is \"{}\", and its file is called {}", compiled.op->info().name,
                      code.header.filename().string());
  const GuardedOp op(*compiled.op, code, evaluation_limit(usual_first_limit));
  try_formulas(op);
  if (const auto wrong = gradient_fault(op))
    return user_error(place_of(code.header, text, wrong->tensor), "{}", wrong->message);
  return {};
}

// "KIND LINE MESSAGE", where there is an error.
std::string packed(const Result<void>& found) {
  if (found) return "fine";
  return fmt::format("{} {} {}", exit_code(found.error().kind), found.error().place.line,
                     found.error().message);
}

Error unpacked(std::string_view text, const fs::path& header) {
  const auto number = [&] {
    int value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(std::min(static_cast<std::size_t>(end - text.data()) + 1, text.size()));
    return value;
  };
  const int code = number();
  Error error;
  for (const ErrorKind kind : {ErrorKind::user, ErrorKind::environment})
    if (code == exit_code(kind)) error.kind = kind;
  error.place = {header.string(), number(), 0};
  error.message = text;
  return error;
}

// Last words name the header, and its line where that is known.
Error from_last_words(std::string_view words, const fs::path& header) {
  Error error{ErrorKind::user, {}, Place{header.string()}};
  if (const std::string name = header.string() + ":"; words.starts_with(name))
    words.remove_prefix(name.size());
  const auto [end, failure] = std::from_chars(words.data(), words.data() + words.size(), error.place.line);
  if (failure == std::errc() && *end == ':')
    words.remove_prefix(static_cast<std::size_t>(end - words.data()) + 1);
  error.message = words.substr(std::min(words.find_first_not_of(' '), words.size()));
  return error;
}

// examine() in a child: whatever the code does there is found out before it runs here.
Result<void> try_apart(const UserCode& code, std::string_view text) {
  const std::chrono::seconds processor = evaluations_in_trial * evaluation_limit(usual_first_limit);
  const std::chrono::seconds patience = patience_in_trial * evaluation_limit(usual_first_limit);
  ASSAY_TRY(const ForkedRun run, run_forked([&] { return packed(examine(code, text)); },
                                            {.patience = patience, .processor = processor}));
  const Place place{code.header.string()};
  if (!run.last_words.empty() && run.exit == exit_code(ErrorKind::user))
    return std::unexpected(from_last_words(run.last_words, code.header));
  if (!run.last_words.empty()) return internal_error("{}: {}", code.header.string(), run.last_words);
  if (!run.in_time)
    return user_error(
        place,
        "the operator did not return from a trial on small inputs within {} s of processor time, or {} s",
        processor.count(), patience.count());
  if (run.exit != 0)
    return user_error(place, "the operator, tried on small inputs, {}", how_it_ended(run.exit));
  if (run.text == "fine") return {};
  if (run.text.empty()) return user_error(place, "the operator, tried on small inputs, called _exit");
  return std::unexpected(unpacked(run.text, code.header));
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

  const UserCode code{header, fs::absolute(*library), symbolizer_beside(request.compiler)};
  ASSAY_TRY_VOID(try_apart(code, *text));
  ASSAY_TRY(const CompiledOperator compiled, open(code));       // not guarded: it went well in the child
  return new GuardedOp(*compiled.op, code, evaluation_limit()); // as long as the process, as the library
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
  static std::map<fs::path, Result<const Op*>> loaded; // what is wrong stays wrong
  std::error_code error;
  const fs::path key = fs::weakly_canonical(header, error);
  if (const auto found = loaded.find(key); found != loaded.end()) return found->second;
  return loaded.emplace(key, load(header, cache_dir)).first->second;
}

} // namespace assay
