// Writes the launches of some small cases of kernels, without results, for record_rows to run on a GPU:
//
//   export_launches DIR KERNEL.toml...
#include "harness/base/files.h"
#include "harness/device/cpu/cpu_device.h"
#include "harness/run/trial.h"
#include "tests/conformance/recording_device.h"

#include <cstdio>
#include <filesystem>
#include <numeric>
#include <set>

namespace {

using namespace assay;
using namespace assay::conformance;

constexpr std::size_t cases_of_a_type = 4;
constexpr std::int64_t most_elements = 6000;

// Without comments, source lines and the sections that belong to them: what is left is all that is compiled.
std::string stripped(const std::string& ptx) {
  std::string out;
  std::size_t at = 0;
  bool in_section = false;
  while (at < ptx.size()) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
    std::string line = ptx.substr(at, end - at);
    at = end + 1;
    if (const std::size_t comment = line.find("//"); comment != std::string::npos) line.resize(comment);
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos) continue;
    line.resize(line.find_last_not_of(" \t") + 1);
    const std::string word = line.substr(begin, line.find_first_of(" \t{", begin) - begin);
    if (word == ".section") in_section = true;
    if (!in_section && word != ".file" && word != ".loc") out += line + "\n";
    if (in_section && line.find('}') != std::string::npos) in_section = false;
  }
  return out;
}

std::string dims_text(const Case& one) {
  std::string text = one.pass == Pass::backward ? "backward" : "forward";
  for (const auto& [name, value] : one.dims) text += fmt::format(" {}={}", name, value);
  for (const auto& [name, value] : one.params) text += fmt::format(" {}={}", name, value);
  return text;
}

// Shapes that differ, the values of the sweep's own; small ones only.
Result<void> export_type(Kernel& kernel, RecordingDevice& device, const std::string& name, DType dtype,
                         const std::filesystem::path& folder) {
  LaunchFile file;
  file.kernel = name;
  file.ptx_file = fmt::format("{}.{}.ptx", name, name_of(dtype));
  std::set<std::string> shapes;
  for (const Case& one : corner_cases(kernel.space())) {
    if (file.cases.size() >= cases_of_a_type) break;
    if (one.dtype != dtype || shapes.contains(dims_text(one))) continue;
    ASSAY_TRY(const Plan plan, kernel.plan(one));
    std::int64_t elements = 0;
    for (const PlannedTensor& tensor : plan.tensors)
      elements +=
          std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t{1}, std::multiplies<>());
    if (elements > most_elements || elements < static_cast<std::int64_t>(48 * file.cases.size() + 8))
      continue;
    ASSAY_TRY_VOID(run_trial(kernel, one));
    const auto recorded = device.recorded();
    if (!recorded) continue;
    shapes.insert(dims_text(one));
    file.cases.push_back(*recorded);
    file.cases.back().name = dims_text(one);
  }
  if (file.cases.empty()) return {};
  file.ptx = stripped(device.ptx());
  ASSAY_TRY_VOID(write_file(folder / file.ptx_file, file.ptx));
  ASSAY_TRY_VOID(write_file(folder / fmt::format("{}.{}.json", name, name_of(dtype)), to_text(file)));
  fmt::print("{} {}: {} cases, {} bytes of PTX\n", name, name_of(dtype), file.cases.size(), file.ptx.size());
  return {};
}

Result<void> export_kernel(const std::filesystem::path& manifest, const std::filesystem::path& folder) {
  ASSAY_TRY(const auto cpu, make_cpu_device());
  RecordingDevice device(*cpu);
  ASSAY_TRY(const Manifest read, load_manifest(manifest));
  const std::string name = manifest.parent_path().filename().string();
  for (const DType dtype :
       read.dtypes) { // a kernel of its own, so that the program loaded last is this type's
    ASSAY_TRY(const auto kernel, Kernel::load(manifest, device));
    ASSAY_TRY_VOID(export_type(*kernel, device, name, dtype, folder));
  }
  return {};
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: export_launches DIR KERNEL.toml...\n");
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  for (int k = 2; k < argc; ++k)
    if (const auto done = export_kernel(argv[k], argv[1]); !done)
      fmt::print(stderr, "{}\n", to_string(done.error()));
  return 0;
}
