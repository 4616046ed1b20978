#include "harness/base/files.h"
#include "harness/export/cuda_support.h"
#include "harness/export/exported.h"
#include "harness/run/execute.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay {

namespace {

constexpr std::uint64_t usual_shared_bytes = 48 * 1024; // more must be asked for
constexpr std::size_t most_expected = 4096;             // elements of one output: those that are furthest off

std::string number_text(double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  return fmt::format("{:.17g}", value);
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  return fmt::format("{{{}}}", fmt::join(sizes, ", "));
}

std::string runs_text(const Tensor& tensor) {
  std::string text;
  int on_line = 0;
  for (const BitRun& run : bit_runs(tensor)) {
    text += fmt::format("{{{}, {:#x}}}, ", run.count, run.bits);
    if (++on_line % 6 == 0) text += "\n      ";
  }
  return text;
}

// A name that is none of the kernel's or of ours.
std::string variable(const std::string& name) { return "buffer_" + name; }

class CudaProgram {
 public:
  explicit CudaProgram(const Exported& exported)
      : exported_(exported), trial_(exported.judgement.trial), manifest_(exported.kernel.manifest()) {}

  Result<std::string> text() {
    ASSAY_TRY_VOID(check_size(exported_));
    const std::string extension = manifest_.source.extension().string();
    by_driver_ = extension == ".ptx";
    if (!by_driver_ && extension != ".cu")
      return user_error(
          {manifest_.path.string()},
          "a CUDA program is written of kernels in CUDA C++ or PTX; {} is neither: export npz or py",
          manifest_.source.filename().string());
    ASSAY_TRY(const std::string source,
              by_driver_ ? read_file(manifest_.source)
                         : with_includes_in_place(manifest_.source, manifest_.include_dirs));
    head();
    out_ += by_driver_ ? "#include <cuda.h>\n#include <cuda_runtime.h>\n" : "#include <cuda_runtime.h>\n";
    out_ += "\n// ---- the kernel, " + manifest_.source.filename().string() + " ----\n";
    out_ += by_driver_ ? "static const char* const kernel_ptx = R\"ptx(\n" + source + ")ptx\";\n" : source;
    out_ += cuda_support_text;
    out_ += "\nnamespace reproducer {\n\nint run() {\n";
    if (by_driver_) out_ += "  CUmodule module = nullptr;\n";
    if (runs_twice(trial_.plan, exported_.test_case.schedule_seed)) {
      out_ += "  {  // variables of the module are then as this leaves them\n";
      buffers();
      launches();
      out_ += "  }\n";
    }
    buffers();
    launches();
    comparisons();
    out_ += "}\n\n}  // namespace reproducer\n\nint main() { return reproducer::run(); }\n";
    return std::move(out_);
  }

 private:
  void head() {
    out_ += fmt::format("// {}\n//\n", title_of(exported_));
    std::string options;
    for (const std::string& option : manifest_.options)
      if (option != "-lineinfo" && option != "--generate-line-info") options += " " + option;
    out_ += fmt::format(
        "// Build and run: nvcc -std=c++17 -lineinfo{}{} -o reproducer FILE.cu && ./reproducer\n"
        "// It exits with 1 where an element is further from the golden than the threshold, with 0 "
        "where none is.\n",
        by_driver_ ? "" : options, by_driver_ ? " -lcuda" : "");
    if (!trial_.faults.empty())
      out_ += "// The fault is one of memory or order: run it under compute-sanitizer as well.\n";
    out_ += "//\n" + case_comment(exported_, "// ") + "\n";
  }

  void buffers() {
    for (std::size_t i = 0; i < trial_.plan.tensors.size(); ++i) {
      const PlannedTensor& tensor = trial_.plan.tensors[i];
      if (!tensor.present) continue;
      const bool given = tensor.info->role == Role::input || tensor.info->role == Role::upstream;
      const int fill = given || tensor.info->starts_at_zero ? 0 : 0xFF;
      buffer(tensor.info->name, tensor.dtype, tensor.shape, tensor.strides, tensor.offset, fill);
      if (given)
        out_ += fmt::format("  {}.set({{{}}});\n", variable(tensor.info->name), runs_text(trial_.inputs[i]));
    }
    for (const PlannedScratch& scratch : trial_.plan.scratch)
      buffer(scratch.name, scratch.dtype, scratch.shape, {}, 0, scratch.zero ? 0 : 0xFF);
  }

  void buffer(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
              const std::vector<std::int64_t>& strides, std::int64_t offset, int fill) {
    out_ += fmt::format("  Buffer {}(\"{}\", {}, {}, {}, {}, {});\n", variable(name), name, name_of(dtype),
                        sizes_text(shape), sizes_text(strides), offset, fill);
  }

  std::string argument(const PlannedArgument& planned) const {
    if (const auto* tensor = std::get_if<TensorArgument>(&planned))
      return fmt::format("&{}.pointer", variable(trial_.plan.tensors[tensor->index].info->name));
    if (const auto* scratch = std::get_if<ScratchArgument>(&planned))
      return fmt::format("&{}.pointer", variable(trial_.plan.scratch[scratch->index].name));
    return {};
  }

  void launches() {
    int k = 0;
    for (const PlannedLaunch& launch : trial_.plan.launches) {
      if (launch.grid.x == 0 || launch.grid.y == 0 || launch.grid.z == 0) continue;
      out_ += "  {\n";
      std::vector<std::string> arguments;
      for (std::size_t a = 0; a < launch.args.size(); ++a) {
        std::string text = argument(launch.args[a]);
        if (text.empty()) {
          out_ += fmt::format("    unsigned long long scalar_{} = {:#x};\n", a,
                              std::get<Scalar>(launch.args[a]).bits);
          text = fmt::format("&scalar_{}", a);
        }
        arguments.push_back(std::move(text));
      }
      out_ += fmt::format("    void* arguments[] = {{{}}};\n", fmt::join(arguments, ", "));
      ++k;
      if (by_driver_)
        launch_by_driver(launch, k);
      else
        launch_by_runtime(launch, k);
      out_ += fmt::format("    check(cudaDeviceSynchronize(), \"launch {}\");\n  }}\n", k);
    }
  }

  void launch_by_runtime(const PlannedLaunch& launch, int k) {
    out_ += fmt::format("    const void* kernel = reinterpret_cast<const void*>(::{});\n", launch.name);
    if (launch.shared_bytes > usual_shared_bytes)
      out_ += fmt::format(
          "    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, {}), "
          "\"shared memory\");\n",
          launch.shared_bytes);
    out_ += fmt::format(
        "    check(cudaLaunchKernel(kernel, dim3({}, {}, {}), dim3({}, {}, {}), arguments, {}, 0), "
        "\"launch {}\");\n",
        launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y, launch.block.z,
        launch.shared_bytes, k);
  }

  // The runtime's context is current once it has allocated the buffers.
  void launch_by_driver(const PlannedLaunch& launch, int k) {
    out_ += fmt::format(
        "    CUfunction kernel;\n"
        "    if ((module == nullptr && cuModuleLoadData(&module, kernel_ptx) != CUDA_SUCCESS) ||\n"
        "        cuModuleGetFunction(&kernel, module, \"{}\") != CUDA_SUCCESS)\n"
        "      return printf(\"the PTX cannot be loaded\\n\"), 2;\n",
        launch.entry);
    if (launch.shared_bytes > usual_shared_bytes)
      out_ += fmt::format(
          "    cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, {});\n",
          launch.shared_bytes);
    out_ += fmt::format(
        "    if (cuLaunchKernel(kernel, {}, {}, {}, {}, {}, {}, {}, 0, arguments, 0) != CUDA_SUCCESS)\n"
        "      return printf(\"launch {} failed\\n\"), 2;\n",
        launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y, launch.block.z,
        launch.shared_bytes, k);
  }

  void comparisons() {
    out_ += "  int wrong = 0;\n";
    if (trial_.tensors.empty())
      out_ += "  printf(\"where Assay ran it the kernel did not end: see the first line, and "
              "compute-sanitizer\\n\");\n";
    for (std::size_t i = 0; i < trial_.tensors.size(); ++i) {
      const TensorReport& report = trial_.tensors[i];
      out_ += fmt::format("  wrong += compare({}, {{", variable(report.name));
      const bool whole = !trial_.target[i].empty();
      int on_line = 0;
      for (const std::size_t k : whole ? furthest(i) : unwritten(report))
        out_ += fmt::format("{}{{{}, {}, {}, {}}},", on_line++ % 2 == 0 ? "\n      " : " ", k,
                            number_text(comparable_golden(report.dtype, trial_.golden[i].value[k])),
                            number_text(trial_.reference[i].value[k]),
                            number_text(whole ? trial_.target[i][k] : NAN));
      out_ += fmt::format("}}, {});\n", number_text(threshold(i)));
    }
    out_ +=
        "  printf(\"%d element%s off\\n\", wrong, wrong == 1 ? \"\" : \"s\");\n  return wrong > 0 ? 1 : 0;\n";
  }

  double threshold(std::size_t i) const {
    const TensorReport& report = trial_.tensors[i];
    if (report.exact) return 0;
    const Gate& gate = report.comparison.gate;
    for (const Finding& finding : exported_.judgement.findings) // what right kernels reach there, at least
      if (finding.signature.output == report.name && finding.signature.kind == Kind::gate)
        return finding.threshold;
    return gate.threshold;
  }

  // The element that no launch wrote; its buffer begins as NaN.
  std::vector<std::size_t> unwritten(const TensorReport& report) const {
    for (const Finding& finding : exported_.judgement.findings)
      if (finding.signature.kind == Kind::unwritten && finding.signature.output == report.name &&
          finding.element >= 0)
        return {static_cast<std::size_t>(finding.element)};
    return {};
  }

  // Elements that count, those furthest off where there are too many, ascending.
  std::vector<std::size_t> furthest(std::size_t i) const {
    const Evaluated& golden = trial_.golden[i];
    std::vector<std::size_t> elements;
    for (std::size_t k = 0; k < golden.value.size(); ++k)
      if (golden.formula_overflows.empty() || !golden.formula_overflows[k]) elements.push_back(k);
    if (elements.size() <= most_expected) return elements;
    const auto error = [&](std::size_t k) {
      const double e = std::fabs(trial_.target[i][k] - golden.value[k]);
      return std::isnan(e) ? INFINITY : e;
    };
    std::ranges::nth_element(elements, elements.begin() + most_expected,
                             [&](std::size_t a, std::size_t b) { return error(a) > error(b); });
    elements.resize(most_expected);
    std::ranges::sort(elements);
    return elements;
  }

  const Exported& exported_;
  const Trial& trial_;
  const Manifest& manifest_;
  std::string out_;
  bool by_driver_ = false; // PTX
};

} // namespace

Result<std::string> cuda_program(const Exported& exported) { return CudaProgram(exported).text(); }

} // namespace assay
