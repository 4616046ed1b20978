#include "harness/compile/host_library.h"

#include "harness/base/child_process.h"
#include "harness/base/hash.h"
#include "harness/compile/includes.h"
#include "harness/compile/nvrtc_process.h"

#include <charconv>
#include <optional>
#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

// By the clock; the processor time it may take is compile_limit().
constexpr std::chrono::seconds patience{600};

std::string stamp(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return fmt::format("{} {} {}\n", file.string(), error ? 0 : size,
                     fs::last_write_time(file, error).time_since_epoch().count());
}

std::string key_of(const HostLibraryRequest& request, const IncludeScan& scan) {
  std::string all = "assay-host 1\n" + stamp(request.compiler);
  for (const std::string& option : request.options) all += option + "\n";
  for (const fs::path& archive : request.archives) all += stamp(archive);
  all += request.header.string() + "\n" + request.header_text + "\n" + request.text;
  for (const IncludedFile& file : scan.files) all += file.path.string() + "\n" + file.text;
  return content_hash(all);
}

struct Diagnostic {
  Place place;
  std::string kind, message; // kind: "error", "fatal error", "note"
};

// "file:line:column: kind: message"
std::optional<Diagnostic> diagnostic_in(std::string_view line) {
  for (const std::string_view kind : {"error", "fatal error", "note"}) {
    const std::string mark = fmt::format(": {}: ", kind);
    const std::size_t at = line.find(mark);
    if (at == std::string_view::npos) continue;
    const std::string_view where = line.substr(0, at);
    const std::size_t column = where.rfind(':');
    const std::size_t row = column == 0 || column == std::string_view::npos ? std::string_view::npos
                                                                            : where.rfind(':', column - 1);
    Diagnostic found{{}, std::string(kind), std::string(line.substr(at + mark.size()))};
    if (row != std::string_view::npos) {
      found.place.file = where.substr(0, row);
      std::from_chars(where.data() + row + 1, where.data() + column, found.place.line);
      std::from_chars(where.data() + column + 1, where.data() + where.size(), found.place.column);
    }
    return found;
  }
  return std::nullopt;
}

} // namespace

Error host_error(const std::string& log, const fs::path& header) {
  std::optional<Diagnostic> error;
  std::string_view rest = log;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    auto found = diagnostic_in(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!found) continue;
    // The compiler writes "./" before a name that is relative to its own folder.
    const bool theirs = fs::path(found->place.file).lexically_normal() == header.lexically_normal();
    if (theirs) found->place.file = header.string();
    if (found->kind != "note") {
      if (error) break; // only the first, and what led to it
      error = found;
    }
    if (error && theirs) return {ErrorKind::user, one_line(error->message), found->place};
  }
  if (error) return {ErrorKind::user, one_line(error->message), Place{header.string()}};
  const std::string first = log.substr(0, log.find('\n'));
  return {ErrorKind::user, one_line(fmt::format("does not compile: {}", first)), Place{header.string()}};
}

Result<fs::path> host_library(const HostLibraryRequest& request, const fs::path& cache_dir) {
  const fs::path folder = (cache_dir.empty() ? fs::temp_directory_path() : cache_dir) / "operators";
  const IncludeScan scan =
      scan_includes(request.header, request.header_text + "\n" + request.text, request.include_dirs);
  if (scan.no_file) return std::unexpected(*scan.no_file);
  fs::path library = folder / (key_of(request, scan) + ".so");
  std::error_code error;
  if (fs::is_regular_file(library, error)) return library;
  if (::access(request.compiler.c_str(), X_OK) != 0)
    return environment_error(Place{request.header.string()},
                             "an operator of one's own needs the compiler that built Assay, {}, which is not "
                             "there: install Debian's package clang-{}",
                             request.compiler.string(), __clang_major__);
  fs::create_directories(folder, error);
  const fs::path unfinished = fmt::format("{}.{}", library.string(), ::getpid());

  std::vector<std::string> args = request.options;
  for (const char* arg :
       {"-shared", "-fPIC", "-w", "-ferror-limit=1", "-fno-caret-diagnostics", "-fno-color-diagnostics"})
    args.emplace_back(arg);
  for (const fs::path& dir : request.include_dirs) args.push_back("-I" + dir.string());
  args.insert(args.end(), {"-include", request.header.string(), "-x", "c++", "-", "-x", "none"});
  for (const fs::path& archive : request.archives) args.push_back(archive.string());
  for (const std::string& name : request.libraries) args.push_back("-l" + name);
  args.insert(args.end(), {"-o", unfinished.string()});
  ASSAY_TRY(const ChildRun run, run_child(request.compiler, args, request.text,
                                          std::max(patience, compile_limit()), compile_limit()));
  if (!run.in_time || run.exit != 0) fs::remove(unfinished, error);
  if (!run.in_time)
    return user_error(Place{request.header.string()},
                      "{} did not compile it within {} s of processor time; {}", request.compiler.string(),
                      compile_limit().count(), how_to_raise_compile_limit);
  if (run.exit != 0) {
    return std::unexpected(host_error(run.log, request.header));
  }
  fs::rename(unfinished, library, error);
  if (error) return environment_error(Place{library.string()}, "cannot be written: {}", error.message());
  return library;
}

} // namespace assay
