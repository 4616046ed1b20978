#include "harness/run/code_line.h"

#include "harness/base/child_process.h"
#include "harness/run/operator_guard.h"

#include <charconv>
#include <dlfcn.h>
#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds patience{5};

// "file:line:column"
struct CodeLine {
  fs::path file;
  int line = 0;
};

CodeLine parse(std::string_view text) {
  const std::size_t column = text.rfind(':');
  if (column == 0 || column == std::string_view::npos) return {};
  const std::size_t row = text.rfind(':', column - 1);
  if (row == std::string_view::npos) return {};
  CodeLine found{fs::path(text.substr(0, row)).lexically_normal(), 0};
  std::from_chars(text.data() + row + 1, text.data() + column, found.line);
  return found;
}

// The header may have been compiled from another folder, to which its name in the debug information belongs;
// what our own headers are called is no user's.
bool is_header(const fs::path& file, const fs::path& header) {
  return file.filename() == header.filename() &&
         file.parent_path().filename() == fs::absolute(header).parent_path().filename();
}

} // namespace

int line_in_code(const UserCode& code, std::span<void* const> frames) {
  if (code.symbolizer.empty()) return 0;
  std::vector<std::string> args = {"--functions=none", "--obj=" + code.library.string()};
  for (void* const frame : frames) {
    Dl_info in{};
    if (::dladdr(frame, &in) == 0 || in.dli_fname == nullptr || code.library != in.dli_fname) continue;
    const auto offset =
        reinterpret_cast<std::uintptr_t>(frame) - reinterpret_cast<std::uintptr_t>(in.dli_fbase);
    args.push_back(fmt::format("{:#x}", offset - 1));
  }
  if (args.size() == 2) return 0;
  const auto run = run_child(code.symbolizer, args, {}, patience);
  if (!run || run->exit != 0) return 0;
  std::string_view rest = run->out;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const CodeLine found = parse(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (found.line > 0 && is_header(found.file, code.header)) return found.line;
  }
  return 0;
}

fs::path symbolizer_beside(const fs::path& compiler) {
  std::error_code error;
  fs::path tool = fs::weakly_canonical(compiler, error).parent_path() / "llvm-symbolizer";
  return ::access(tool.c_str(), X_OK) == 0 ? tool : fs::path();
}

} // namespace assay
