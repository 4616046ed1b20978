// What is exported must work where there is no Assay: nvcc builds the program, python rebuilds the inputs bit
// for bit, numpy's format holds the arrays.
#include "harness/base/files.h"
#include "harness/export/exported.h"
#include "harness/export/torch_formulas.h"
#include "harness/inputs/fill.h"
#include "harness/ops/op.h"
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

fs::path first_case(const std::string& kernel) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(checkout() / "corpus" / kernel))
    files.push_back(entry.path());
  std::ranges::sort(files);
  return files.front();
}

std::string exported(const std::string& case_file, const std::string& format, const TemporaryFolder& folder) {
  const std::string file = folder / ("exported." + format);
  const ProgramRun run =
      run_assay({"export", case_file, "--format", format, "--out", file, "--device", "cpu"});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr(file));
  return file;
}

std::string found_program(const std::vector<std::string>& places) {
  for (const std::string& place : places)
    if (fs::exists(place)) return place;
  return {};
}

// --- cu ---

class CudaProgram : public ::testing::TestWithParam<const char*> {};

TEST_P(CudaProgram, IsBuiltByNvcc) {
  const TemporaryFolder folder;
  const std::string file = exported(first_case(GetParam()).string(), "cu", folder);
  const std::string text = slurp(file);
  EXPECT_THAT(text, StartsWith("// "));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("#include \"")));
  const char* home = std::getenv("CUDA_HOME");
  const std::string nvcc =
      found_program({home ? std::string(home) + "/bin/nvcc" : "", "/usr/local/cuda/bin/nvcc"});
  if (nvcc.empty()) GTEST_SKIP() << "this machine has no nvcc";
  const std::string program = folder / "reproducer";
  std::vector<std::string> command{"-std=c++17", "-arch=sm_90", "-o", program, file};
  if (text.find(" -lcuda ") != std::string::npos) command.emplace_back("-lcuda");
  const ProgramRun built = run_program(nvcc, command);
  ASSERT_EQ(built.exit, 0) << built.out << built.err;
  const ProgramRun run = run_program(program, {});
  if (run.exit == 127) // the loader found no driver
    EXPECT_THAT(run.err, HasSubstr("libcuda"));
  else if (run.exit == 2) // CUDA itself refused: no GPU here
    EXPECT_THAT(run.out, HasSubstr("cudaMalloc: "));
  else
    EXPECT_EQ(run.exit, 1) << run.out;
}

// Forward; backward with includes and scratch; strided inputs; PTX; launched twice, and an element unwritten.
INSTANTIATE_TEST_SUITE_P(Kernels, CudaProgram,
                         ::testing::Values("softmax_no_max", "rmsnorm_backward_missing_mean",
                                           "rmsnorm_ignores_row_stride", "triton_gemm_tf32",
                                           "sum_counter_left_over"),
                         [](const auto& info) { return std::string(info.param); });

TEST(CudaProgramText, LaunchesTwiceAndExpectsWhatWasNotWritten) {
  const TemporaryFolder folder;
  const std::string text = slurp(exported(first_case("sum_counter_left_over").string(), "cu", folder));
  const std::size_t once = text.find("check(cudaLaunchKernel(");
  ASSERT_NE(once, std::string::npos);
  EXPECT_NE(text.find("check(cudaLaunchKernel(", once + 1), std::string::npos);
  EXPECT_THAT(text, HasSubstr("compare(buffer_y, {\n      {0, 0, 0, NAN},}, 0);"));
}

// --- npz ---

std::string entry_of(const std::string& archive, const std::string& name) {
  int code = 0;
  zip_t* zip = zip_open(archive.c_str(), ZIP_RDONLY, &code);
  if (!zip) return {};
  std::string bytes;
  zip_stat_t stat;
  if (zip_stat(zip, name.c_str(), 0, &stat) == 0) {
    bytes.resize(stat.size);
    zip_file_t* file = zip_fopen(zip, name.c_str(), 0);
    EXPECT_EQ(zip_fread(file, bytes.data(), bytes.size()), static_cast<zip_int64_t>(bytes.size()));
    zip_fclose(file);
  }
  zip_close(zip);
  return bytes;
}

TEST(Npz, HoldsInputsAndTheThreeResults) {
  const TemporaryFolder folder;
  const std::string file =
      exported(first_case("sum_half_accumulator").string(), "npz", folder); // bf16, 1 x 8
  const std::string x = entry_of(file, "x.npy");
  ASSERT_EQ(x.size() % 64, 16u) << "a header of a multiple of 64 bytes, then 8 elements of 2";
  EXPECT_THAT(x, StartsWith("\x93NUMPY"));
  EXPECT_THAT(x, HasSubstr("'descr': '<u2', 'fortran_order': False, 'shape': (1, 8)"));
  const std::string bits = x.substr(x.size() - 16);
  EXPECT_EQ(bits.substr(10, 4), std::string("\x80\xBF\x80\x3F", 4)) << "x[0,5] = -1, x[0,6] = 1 in bf16";
  const std::string target = entry_of(file, "target_y.npy");
  ASSERT_FALSE(target.empty());
  EXPECT_THAT(target, HasSubstr("'descr': '<f8', 'fortran_order': False, 'shape': (1,)"));
  double golden = 0;
  const std::string y = entry_of(file, "golden_y.npy");
  std::memcpy(&golden, y.data() + y.size() - 8, 8);
  EXPECT_EQ(golden, -0.69921875) << "-0.7 in bf16, after -1 + 1";
  EXPECT_THAT(entry_of(file, "case.npy"), HasSubstr("assay-case 1"));
}

// --- py ---

// Seeds, a patch and an override: nothing of it may be lost.
constexpr const char* mixed_case = R"(assay-case 1
kernel = kernels/faulty/softmax_no_max/kernel.toml
dtype = f16
pass = forward
schedule = 0
expect = pass

[dims]
rows = 5
cols = 33

[inputs]
x = normal(mean=0, stddev=30) seed 11
x lines 1..3 step 2 = swamping(value=100, place=0.5)
x[4,32] = -inf

[tolerance]
fudge = 2
atol = 0
reference_limit = 0.1
flush_subnormals = false
)";

TEST(Python, RebuildsTheInputsBitForBit) {
  const std::string python = found_program({"/usr/bin/python3", "/usr/local/bin/python3"});
  if (python.empty()) GTEST_SKIP() << "this machine has no python3";
  const TemporaryFolder folder;
  const std::string case_file = folder.write("mixed.case", mixed_case);
  const std::string script = exported(case_file, "py", folder);
  const ProgramRun run = run_program(python, {script, "--dump", folder / "inputs"});
  ASSERT_EQ(run.exit, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("x: f16 [5, 33]"));
  const auto test_case = parse_case(mixed_case, "mixed.case");
  ASSERT_TRUE(test_case);
  Domain domain;
  domain.specials = true;
  const std::vector<std::int64_t> shape{5, 33};
  const Tensor x = fill(test_case->inputs.front(), DType::f16, shape, domain, test_case->dims);
  const std::string bytes(reinterpret_cast<const char*>(x.bytes.data()), x.bytes.size());
  EXPECT_EQ(slurp(folder / "inputs/x"), bytes);
}

TEST(Python, EveryOperatorHasAFormula) {
  for (const Op* op : all_ops()) {
    const std::string_view formula = torch_formula(op->info().name);
    EXPECT_FALSE(formula.empty()) << op->info().name;
    for (const TensorInfo& tensor : op->info().tensors)
      if (tensor.role == Role::output)
        EXPECT_THAT(std::string(formula), HasSubstr(tensor.name + " = ")) << op->info().name;
  }
}

TEST(Python, EveryOperatorsScriptIsPython) {
  const std::string python = found_program({"/usr/bin/python3", "/usr/local/bin/python3"});
  if (python.empty()) GTEST_SKIP() << "this machine has no python3";
  for (const Op* op : all_ops()) {
    std::string body = "def f():\n";
    const std::string formula(torch_formula(op->info().name));
    for (std::size_t at = 0; at < formula.size();) {
      const std::size_t end = std::min(formula.find('\n', at), formula.size());
      body += "    " + formula.substr(at, end - at) + "\n";
      at = end + 1;
    }
    const ProgramRun run = run_program(python, {"-c", "import sys; compile(sys.argv[1], 'f', 'exec')", body});
    EXPECT_EQ(run.exit, 0) << op->info().name << run.err;
  }
}

TEST(Python, AgreesWithTorchInFloat64) {
  const std::string python = found_program({"/usr/bin/python3"});
  if (python.empty() || run_program(python, {"-c", "import torch"}).exit != 0)
    GTEST_SKIP() << "this machine's python3 has no torch";
  for (const char* kernel : {"softmax_no_max", "rmsnorm_backward_missing_mean", "sum_half_accumulator"}) {
    const TemporaryFolder folder;
    const std::string script = exported(first_case(kernel).string(), "py", folder);
    const ProgramRun run = run_program(python, {script});
    EXPECT_EQ(run.exit, 1) << kernel << run.out << run.err;
    EXPECT_THAT(run.out, HasSubstr("torch in float64"));
  }
}

// --- bad input ---

TEST(Export, RefusesBadUsageWithOneLine) {
  const std::string good = first_case("softmax_no_max").string();
  const std::vector<std::vector<std::string>> commands{
      {"export", good, "--device", "cpu"},
      {"export", good, "--format", "exe", "--device", "cpu"},
      {"export", "none.case", "--format", "cu", "--device", "cpu"}};
  for (const auto& command : commands) {
    const ProgramRun run = run_assay(command);
    EXPECT_EQ(run.exit, 2) << run.out << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  }
}

} // namespace
} // namespace assay::testing
