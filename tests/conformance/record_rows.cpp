// Runs rows and whole kernels on the GPU of this machine and writes the same files with the bits that it
// gave:
//
//   record_rows --driver 580.1 --out DIR rows/*.json launches/*.json
#include "harness/base/files.h"
#include "tests/conformance/launches.h"
#include "tests/conformance/run_rows.h"

#include <cstdio>
#include <filesystem>

namespace {

using namespace assay;
using namespace assay::conformance;

using Heading = std::map<std::string, std::string>;

Result<std::string> record_row_file(Gpu& gpu, const std::string& path, const std::string& text,
                                    const Heading& heading) {
  ASSAY_TRY(RowFile file, read_row_file(path));
  ASSAY_TRY(auto results, run_on_gpu(gpu, file.rows));
  for (std::size_t k = 0; k < results.size(); ++k) file.rows[k].bits = std::move(results[k]);
  file.recorded = heading;
  return with_bits(text, file);
}

Result<std::string> record_launch_file(Gpu& gpu, const std::string& path, const Heading& heading) {
  ASSAY_TRY(LaunchFile file, read_launch_file(path));
  ASSAY_TRY_VOID(gpu.load(file.ptx));
  for (LaunchCase& one : file.cases) ASSAY_TRY_VOID(record_on_gpu(gpu, one));
  file.recorded = heading;
  return to_text(file);
}

Result<void> record(int argc, char** argv) {
  std::string driver = "unknown", out = ".";
  std::vector<std::string> paths;
  for (int k = 1; k < argc; ++k) {
    const std::string arg = argv[k];
    if ((arg == "--driver" || arg == "--out") && k + 1 < argc)
      (arg == "--out" ? out : driver) = argv[++k];
    else
      paths.push_back(arg);
  }
  ASSAY_TRY(const auto gpu, Gpu::open());
  const Heading heading{{"gpu", gpu->name()},
                        {"driver", driver},
                        {"compiler", fmt::format("the driver's own, {}", gpu->driver())}};
  for (const std::string& path : paths) {
    ASSAY_TRY(const std::string text, read_file(path));
    auto recorded = text.find("\"cases\"") != std::string::npos ? record_launch_file(*gpu, path, heading)
                                                                : record_row_file(*gpu, path, text, heading);
    if (!recorded) {
      fmt::print("{}: {}\n", path, recorded.error().message);
      return environment_error({}, "{}: {}", path, recorded.error().message);
    }
    ASSAY_TRY_VOID(write_file((std::filesystem::path(out) / std::filesystem::path(path).filename()).string(),
                              *recorded));
    fmt::print("{}\n", path);
    std::fflush(stdout);
  }
  return {};
}

} // namespace

int main(int argc, char** argv) {
  const auto done = record(argc, argv);
  if (done) return 0;
  fmt::print(stderr, "{}\n", to_string(done.error()));
  return exit_code(done.error().kind);
}
