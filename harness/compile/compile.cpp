#include "harness/compile/compile.h"

#include "harness/base/hash.h"
#include "harness/compile/compile_cache.h"
#include "harness/compile/compile_mlir.h"
#include "harness/compile/cubin_cache.h"
#include "harness/compile/host_headers.h"
#include "harness/compile/includes.h"
#include "harness/compile/nvrtc_library.h"
#include "harness/compile/nvrtc_log.h"
#include "harness/compile/nvrtc_process.h"
#include "harness/compile/ptx_entries.h"
#include "harness/compile/source_names.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace assay {
namespace {

namespace fs = std::filesystem;
using Headers = std::vector<std::pair<std::string, std::string>>;

Result<PtxSource> take_ptx(const CompileRequest& request) {
  PtxSource result{request.text, request.path.string(), {}};
  const std::vector<std::string> entries = ptx_entries(request.text);
  for (const std::string& name : request.names) {
    ASSAY_TRY(result.entries[name], find_entry(entries, name, request.path.string()));
  }
  return result;
}

// Everything that one run of NVRTC depends on, the include files' contents included.
struct Job {
  std::string name; // of the source, for NVRTC
  std::vector<std::string> options;
  Headers headers;
  std::vector<fs::path> user_dirs;
  IncludeScan scan;
};

// NVRTC 12 refuses an option that is given twice.
bool gives_option(const std::vector<std::string>& options, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(options, [&](const std::string& option) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return option == name || (option.starts_with(name) && option[name.size()] == '=');
    });
  });
}

Job prepare(const CompileRequest& request, const NvrtcLibrary& library) {
  Job job;
  job.name = request.path.string();
  job.user_dirs.push_back(request.path.has_parent_path() ? request.path.parent_path() : fs::path("."));
  job.user_dirs.insert(job.user_dirs.end(), request.include_dirs.begin(), request.include_dirs.end());

  if (!gives_option(request.options, {"-arch", "--gpu-architecture"}))
    job.options.push_back("--gpu-architecture=" + request.arch);
  if (!gives_option(request.options, {"-lineinfo", "--generate-line-info"}))
    job.options.emplace_back("-lineinfo");
  for (const fs::path& dir : job.user_dirs) job.options.push_back("-I" + dir.string());
  job.options.insert(job.options.end(), request.options.begin(), request.options.end());
  for (const fs::path& dir : library.toolkit.include_dirs) job.options.push_back("-I" + dir.string());

  const OptionFiles named = files_in_options(request.options);
  job.user_dirs.insert(job.user_dirs.end(), named.include_dirs.begin(), named.include_dirs.end());
  std::string text = request.text;
  for (const std::string& file : named.included) text += "\n#include \"" + file + "\""; // only for the scan
  job.scan = scan_includes(request.path, text, job.user_dirs);

  job.headers = request.headers;
  for (const auto& header : host_headers()) // a user's file of that name goes before ours
    if (!job.scan.names.contains(header.first) &&
        std::ranges::find(request.headers, header.first, &Headers::value_type::first) ==
            request.headers.end())
      job.headers.push_back(header);
  return job;
}

// Of the toolkit's own headers, the version and the time of the first stand for all.
std::string toolkit_stamp(const Toolkit& toolkit) {
  std::error_code error;
  const fs::path header = toolkit.include_dirs.front() / "cuda_runtime.h";
  return fmt::format("{}:{}:{}", header.string(),
                     fs::last_write_time(header, error).time_since_epoch().count(),
                     fs::file_size(header, error));
}

std::string cache_key(const CompileRequest& request, const NvrtcLibrary& library, const Job& job) {
  std::string all;
  const auto add = [&](std::string_view field) { all += fmt::format("{}:{}\n", field.size(), field); };
  add("assay-compile 1");
  add(fmt::format("{}.{}", library.major, library.minor));
  add(toolkit_stamp(library.toolkit));
  add(job.name);
  add(request.text);
  const auto add_all = [&](const auto& list) {
    add(fmt::format("{}", list.size()));
    for (const auto& item : list) add(item);
  };
  add_all(request.names);
  add_all(job.options);
  for (const auto& [name, text] : job.headers) {
    add(name);
    add(text);
  }
  for (const IncludedFile& file : job.scan.files) {
    add(file.path.string());
    add(file.text);
  }
  return content_hash(all);
}

// cubin: empty unless a real architecture was asked for.
Result<CacheEntry> run(const CompileRequest& request, const NvrtcLibrary& library, const Job& job,
                       std::string& log, std::string& cubin) {
  ASSAY_TRY(NvrtcOutput output,
            run_nvrtc_apart(library, request.text, job.name, job.headers, request.names, job.options));
  log = output.log;
  if (output.status != NvrtcLibrary::success) return std::unexpected(first_error(output.log, job.name));
  if (output.ptx.empty())
    return user_error(Place{job.name}, "its options make NVRTC produce something other than PTX");
  cubin = std::move(output.cubin);
  std::vector<fs::path> files = {request.path};
  for (const IncludedFile& file : job.scan.files) files.push_back(file.path);
  CacheEntry entry{with_names_as_written(output.ptx, files), output.log, {}};
  for (std::size_t i = 0; i < request.names.size(); ++i) entry.entries[request.names[i]] = output.names[i];
  return entry;
}

} // namespace

fs::path default_cache_dir() {
  if (const char* home = std::getenv("XDG_CACHE_HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / "assay";
  return fs::path(ASSAY_BUILD_ROOT) / "cache";
}

Result<PtxSource> compile(const CompileRequest& request, const fs::path& cache_dir, CompileReport* report) {
  CompileReport unused;
  CompileReport& told = report != nullptr ? *report : unused;
  told = {};
  if (request.text.contains('\0'))
    return user_error(Place{request.path.string()}, "is no text: it holds a zero byte");
  if (request.path.extension() == ".ptx") return take_ptx(request);
  if (request.path.extension() == ".mlir") return compile_mlir(request, cache_dir, told);

  const Result<NvrtcLibrary>& library = nvrtc();
  if (!library) return std::unexpected(library.error());
  const Job job = prepare(request, *library);
  if (job.scan.no_file) return std::unexpected(*job.scan.no_file);
  const bool cacheable = !cache_dir.empty() && !job.scan.computed;
  const std::string key = cacheable ? cache_key(request, *library, job) : std::string();

  std::optional<CacheEntry> entry;
  if (cacheable) entry = cache_load(cache_dir, key);
  told.cached = entry.has_value();
  if (!entry) {
    std::string cubin;
    ASSAY_TRY(entry, run(request, *library, job, told.log, cubin));
    if (cacheable) cache_store(cache_dir, key, *entry);
    if (cacheable && !cubin.empty())
      cubin_cache(cache_dir).store(cubin_key(entry->ptx, request.arch, 0), cubin);
  }
  told.log = entry->log;
  return PtxSource{std::move(entry->ptx), job.name, std::move(entry->entries)};
}

Result<std::string> compiler_version() {
  const Result<NvrtcLibrary>& library = nvrtc();
  if (!library) return std::unexpected(library.error());
  return fmt::format("NVRTC {}.{} ({})", library->major, library->minor, library->toolkit.library.string());
}

} // namespace assay
