#include "harness/compile/mlir_tool.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr const char* tool_name = "mlir-opt-22";
constexpr std::chrono::seconds patience{60};

bool is_program(const fs::path& path) {
  return ::access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path);
}

} // namespace

Result<fs::path> find_mlir_opt() {
  const char* value = std::getenv("PATH");
  for (std::string_view rest = value != nullptr ? value : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    fs::path tool = fs::path(rest.substr(0, end)) / tool_name;
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (tool.is_absolute() && is_program(tool)) return tool;
  }
  return environment_error({}, "an .mlir source needs {}: install Debian's package mlir-22-tools", tool_name);
}

Result<ChildRun> run_mlir_opt(const fs::path& tool, const std::vector<std::string>& args,
                              std::string_view input) {
  ASSAY_TRY(ChildRun run, run_child(tool, args, input, patience));
  if (!run.in_time) return user_error({}, "{} did not end within {} s", tool_name, patience.count());
  return run;
}

fs::path find_libdevice(const std::vector<fs::path>& roots) {
  std::error_code error;
  for (const fs::path& root : roots)
    if (fs::is_regular_file(root / "nvvm/libdevice/libdevice.10.bc", error)) return root;
  return {};
}

} // namespace assay
