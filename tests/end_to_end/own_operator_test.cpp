// The example of an operator that a user wrote: built, verified and fuzzed as a user would, and kept from
// running where only a case asks for it.
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>

namespace assay::testing {
namespace {

using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(OwnOperator, RightKernelsOfItPass) {
  const ProgramRun verified = run_assay({"verify", "kernels/bias_gelu_residual/kernel.toml"});
  EXPECT_EQ(verified.exit, 0) << verified.out << verified.err;
  for (const char* tensor : {"y bf16", "grad_x f32", "grad_bias f16", "grad_residual f32"})
    EXPECT_THAT(verified.out, HasSubstr(tensor));
  const TemporaryFolder folder;
  const ProgramRun fuzzed = run_assay({"fuzz", "kernels/bias_gelu_residual/kernel.toml", "--runs", "300",
                                       "--seed", "1", "--jobs", "1", "--out", folder / "findings"});
  EXPECT_EQ(fuzzed.exit, 0) << fuzzed.out << fuzzed.err;
}

TEST(OwnOperator, AWrongKernelOfItIsFound) {
  const TemporaryFolder folder;
  const ProgramRun run =
      run_assay({"fuzz", "kernels/faulty/bias_gelu_residual_bias_of_row/kernel.toml", "--runs", "2000",
                 "--seed", "1", "--jobs", "1", "--stop-after", "1", "--out", folder / "findings"});
  EXPECT_EQ(run.exit, 1) << run.out << run.err;
  EXPECT_THAT(run.out,
              AnyOf(HasSubstr("FINDING gate of forward y"), HasSubstr("FINDING structure of forward y")));
}

// Its forward crashes where n is 5, which no trial of it comes to.
class CrashingOperator : public ::testing::Test {
 protected:
  CrashingOperator() {
    const std::string header = folder_.write("k/crashing.h", R"cpp(#pragma once
#include "harness/ops/formula.h"
namespace assay {
struct Crashing {
  static constexpr auto name = "crashing";
  static constexpr Dim n{0, "n"};
  static constexpr Dim dims[] = {n};
  static constexpr auto x = TensorSpec::input(0, "x", "n");
  static constexpr auto y = TensorSpec::output(1, "y", "n");
  static constexpr TensorSpec tensors[] = {x, y};
  template <class Run> static void forward(Run& run) {
    run.line([](auto& line) {
      const int* volatile nowhere = nullptr;
      if (line.size(n) == 5) line.store(y, {*nowhere}, line.load(x, {0}));
      line.each(line.size(n), [&](auto i) { line.store(y, {i}, 2 * line.load(x, {i})); });
    });
  }
};
} // namespace assay
)cpp");
    folder_.write("k/k.cu", "extern \"C\" __global__ void twice(const float* x, float* y, long long n) {\n"
                            "  const long long i = blockIdx.x * 256LL + threadIdx.x;\n"
                            "  if (i < n) y[i] = 2 * x[i];\n}\n");
    manifest_ = folder_.write("k/kernel.toml",
                              "op = \"crashing.h\"\nsource = \"k.cu\"\ndtypes = [\"f32\"]\n[dims]\n"
                              "n = { min = 4, max = 6, production = [5] }\n[[launch]]\nkernel = \"twice\"\n"
                              "grid = [\"ceil_div(n, 256)\"]\nblock = [\"256\"]\n"
                              "args = [\"x\", \"y\", \"n:i64\"]\n");
    case_ = folder_.write("k/five.case", "assay-case 1\nkernel = " + manifest_ +
                                             "\ndtype = f32\npass = forward\nschedule = 0\nexpect = pass\n\n"
                                             "[dims]\nn = 5\n\n[inputs]\nx = zero()\n");
    told_ = header + ":14: the operator read address 0x0 at n=5 (forward, f32)";
  }
  ProgramRun run(const std::vector<std::string>& args) { return run_assay(args, {.folder = folder_.path()}); }

  TemporaryFolder folder_;
  std::string manifest_, case_, told_;
};

TEST_F(CrashingOperator, EndsEveryCommandWithOneLine) {
  const std::vector<std::vector<std::string>> commands = {
      {"verify", manifest_},
      {"replay", case_},
      {"explain", case_},
      {"minimize", case_},
      {"fuzz", manifest_, "--runs", "2000", "--jobs", "2", "--seed", "1", "--out", folder_ / "out"}};
  for (const std::vector<std::string>& command : commands) {
    const ProgramRun ended = run(command);
    EXPECT_EQ(ended.exit, 2) << command.front() << ended.out << ended.err;
    EXPECT_THAT(ended.err, EndsWith("assay: " + told_ + "\n"))
        << command.front(); // behind what tells of progress
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out/k/crashes")) << "no case is at fault";
  const ProgramRun triaged = run({"triage", folder_ / "k"});
  EXPECT_EQ(triaged.exit, 2) << triaged.out << triaged.err;
  EXPECT_THAT(triaged.err + triaged.out, HasSubstr(told_));
}

TEST(OwnOperator, IsNotCompiledBecauseACaseFromElsewhereNamesIt) {
  const TemporaryFolder elsewhere, here;
  const std::string manifest = elsewhere.write(
      "k/kernel.toml", slurp(checkout() / "kernels/faulty/bias_gelu_residual_bias_of_row/fixed.toml"));
  elsewhere.write("k/fixed.cu", slurp(checkout() / "kernels/faulty/bias_gelu_residual_bias_of_row/fixed.cu"));
  std::string text = slurp(manifest);
  text = replaced(text, "../../bias_gelu_residual/bias_gelu_residual.h", "own.h");
  elsewhere.write("k/kernel.toml", text);
  elsewhere.write("k/own.h", "#error compiled\n");
  const std::string test_case =
      elsewhere.write("a.case", "assay-case 1\nkernel = " + manifest +
                                    "\ndtype = f32\npass = forward\nschedule = 0\n"
                                    "expect = pass\n\n[dims]\nrows = 1\ncols = 1\n\n"
                                    "[inputs]\nx = zero()\nbias = zero()\n"
                                    "residual = zero()\n");
  const ProgramRun refused = run_assay({"replay", test_case}, {.folder = here.path()});
  EXPECT_EQ(refused.exit, 2) << refused.out;
  EXPECT_THAT(refused.err + refused.out, HasSubstr("a case's word is not enough"));
  const ProgramRun named = run_assay({"replay", test_case, "--kernel", manifest}, {.folder = here.path()});
  EXPECT_EQ(named.exit, 2);
  EXPECT_THAT(named.err + named.out, HasSubstr("own.h:1:2: compiled"));
}

} // namespace
} // namespace assay::testing
