#include "harness/compile/mlir_pipeline.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace assay {
namespace {

struct Settings {
  std::string chip, features = "+ptx80", level = "2", bare_pointers = "false", whole;
  std::string first; // the user's passes, each with a comma behind it
};

struct Key {
  std::string_view name;
  std::string Settings::* value;
};
constexpr std::array keys{Key{"chip", &Settings::chip}, Key{"features", &Settings::features},
                          Key{"opt-level", &Settings::level}, Key{"bare-pointers", &Settings::bare_pointers},
                          Key{"pipeline", &Settings::whole}};

// "compute_90" -> "sm_90"
std::string chip_of(const std::string& arch) {
  const std::size_t number = arch.find('_');
  return number == std::string::npos ? arch : "sm" + arch.substr(number);
}

Result<Settings> settings_of(const std::vector<std::string>& options, const std::string& arch,
                             const std::string& source) {
  Settings settings;
  settings.chip = chip_of(arch);
  for (const std::string& option : options) {
    const std::size_t end = option.find_first_of("={(");
    if (end == std::string::npos || option[end] != '=') {
      settings.first += option + ",";
      continue;
    }
    const auto key = std::ranges::find(keys, std::string_view(option).substr(0, end), &Key::name);
    if (key == keys.end()) {
      std::vector<std::string_view> names;
      for (const Key& known : keys) names.push_back(known.name);
      return user_error(Place{source},
                        "option \"{}\" is none of an .mlir source: there are {}=..., and passes (NAME or "
                        "NAME{{key=value}})",
                        option, fmt::join(names, "=..., "));
    }
    settings.*key->value = option.substr(end + 1);
  }
  return settings;
}

} // namespace

Result<std::string> mlir_pipeline(const std::vector<std::string>& options, const std::string& arch,
                                  const std::filesystem::path& toolkit, const std::string& source) {
  ASSAY_TRY(const Settings settings, settings_of(options, arch, source));
  if (!settings.whole.empty()) return settings.whole;
  std::string passes = settings.first;
  passes += "convert-nvgpu-to-nvvm,gpu-kernel-outlining,convert-vector-to-scf,"
            "gpu.module(convert-vector-to-llvm),convert-scf-to-cf,convert-nvvm-to-llvm,convert-func-to-llvm,"
            "expand-strided-metadata,";
  passes += fmt::format("nvvm-attach-target{{chip={} features={} O={}}},", settings.chip, settings.features,
                        settings.level);
  passes += "lower-affine,convert-arith-to-llvm,convert-index-to-llvm{index-bitwidth=64},canonicalize,cse,";
  passes +=
      fmt::format("gpu.module(convert-gpu-to-nvvm{{index-bitwidth=64 use-bare-ptr-memref-call-conv={}}},"
                  "canonicalize,cse,reconcile-unrealized-casts),",
                  settings.bare_pointers);
  passes += "ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly},";
  passes += toolkit.empty() ? std::string("gpu-module-to-binary{format=isa}")
                            : fmt::format("gpu-module-to-binary{{format=isa toolkit={}}}", toolkit.string());
  return fmt::format("builtin.module({})", passes);
}

} // namespace assay
