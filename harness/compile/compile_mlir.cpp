#include "harness/compile/compile_mlir.h"

#include "harness/base/hash.h"
#include "harness/compile/mlir_output.h"
#include "harness/compile/mlir_pipeline.h"
#include "harness/compile/mlir_tool.h"
#include "harness/compile/ptx_entries.h"
#include "harness/compile/toolkit.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace assay {
namespace {

namespace fs = std::filesystem;

std::string stamp(const fs::path& file) {
  std::error_code error;
  return fmt::format("{}:{}:{}", file.string(), fs::last_write_time(file, error).time_since_epoch().count(),
                     fs::file_size(file, error));
}

std::string cache_key(const CompileRequest& request, const fs::path& tool, const fs::path& libdevice,
                      const std::string& pipeline) {
  std::string all;
  for (const std::string& field :
       {std::string("assay-compile-mlir 1"), stamp(tool), stamp(libdevice), request.path.string(),
        request.text, pipeline, fmt::format("{}", fmt::join(request.names, "\n"))})
    all += fmt::format("{}:{}\n", field.size(), field);
  return content_hash(all);
}

// MLIR leaves calls of NVIDIA's device library open where it finds none.
Result<void> check_complete(const MlirBinary& binary, const std::string& source) {
  const std::size_t open = binary.ptx.find(".extern .func");
  if (open == std::string::npos) return {};
  const std::size_t name = std::min(binary.ptx.find("__nv_", open), binary.ptx.size());
  const std::size_t end = std::min(binary.ptx.find_first_of(" \n(", name), binary.ptx.size());
  if (name == binary.ptx.size() || name > binary.ptx.find(';', open))
    return user_error(Place{source}, "a function that it calls is declared but not defined");
  return environment_error(
      Place{source},
      "{} is in NVIDIA's libdevice.10.bc, which is in no CUDA toolkit here: set CUDA_HOME to "
      "one, or run tools/assay where it may download it",
      binary.ptx.substr(name, end - name));
}

// Of the modules the one that has every name.
Result<CacheEntry> entry_of(const std::vector<MlirBinary>& binaries, const CompileRequest& request,
                            const std::string& log) {
  const std::string source = request.path.string();
  if (binaries.empty())
    return user_error(Place{source}, "has no gpu.module, nor a gpu.launch that one could be made of");
  std::optional<Error> first;
  for (const MlirBinary& binary : binaries) {
    CacheEntry entry{binary.ptx, log, {}};
    const std::vector<std::string> entries = ptx_entries(binary.ptx);
    bool complete = true;
    for (const std::string& name : request.names) {
      Result<std::string> found = find_entry(entries, name, source);
      if (!found && !first) first = found.error();
      complete = complete && found;
      if (found) entry.entries[name] = *std::move(found);
    }
    if (!complete) continue;
    ASSAY_TRY_VOID(check_complete(binary, source));
    return entry;
  }
  if (binaries.size() == 1) return std::unexpected(*std::move(first));
  std::vector<std::string> modules;
  for (const MlirBinary& binary : binaries) modules.push_back(binary.module);
  return user_error(Place{source}, "none of its modules ({}) has all of the kernels {}",
                    fmt::join(modules, ", "), fmt::join(request.names, ", "));
}

} // namespace

Result<PtxSource> compile_mlir(const CompileRequest& request, const fs::path& cache_dir,
                               CompileReport& report) {
  const std::string source = request.path.string();
  ASSAY_TRY(const fs::path tool, find_mlir_opt());
  const fs::path toolkit = find_libdevice(toolkit_roots());
  ASSAY_TRY(const std::string pipeline, mlir_pipeline(request.options, request.arch, toolkit, source));
  const std::string key = cache_key(
      request, tool, toolkit.empty() ? toolkit : toolkit / "nvvm/libdevice/libdevice.10.bc", pipeline);

  std::optional<CacheEntry> entry;
  if (!cache_dir.empty()) entry = cache_load(cache_dir, key);
  report.cached = entry.has_value();
  if (!entry) {
    Result<ChildRun> run = run_mlir_opt(
        tool, {"--pass-pipeline=" + pipeline, "--mlir-print-debuginfo", "--mlir-print-local-scope"},
        request.text);
    if (!run) return std::unexpected(Error{run.error().kind, run.error().message, Place{source}});
    report.log = run->log;
    if (run->exit > 128 && !run->log.contains("LLVM ERROR"))
      return user_error(Place{source}, "mlir-opt ends with signal {} on it", run->exit - 128);
    if (run->exit != 0) return std::unexpected(first_mlir_error(run->log, source));
    ASSAY_TRY(entry, entry_of(mlir_binaries(run->out, source), request, run->log));
    if (!cache_dir.empty()) cache_store(cache_dir, key, *entry);
  }
  report.log = entry->log;
  return PtxSource{std::move(entry->ptx), source, std::move(entry->entries)};
}

} // namespace assay
