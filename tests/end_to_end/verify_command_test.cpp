// `assay verify` as a user runs it: the table, the verdict, the exit code, and the JSON that says the same.
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// A row sum of one thread a row; `body` computes y[row] from in[0 .. cols).
std::string sum_kernel(const TemporaryFolder& folder, const std::string& name, const std::string& body,
                       const std::string& rows = "{ min = 1, max = 4 }",
                       const std::string& cols = "{ min = 1, max = 64, near = [8] }") {
  folder.write(name + "/kernel.cu",
               "__global__ void row_sum(const float* x, float* y, int rows, int cols) {\n"
               "  const int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "  if (row >= rows) return;\n"
               "  const float* in = x + (size_t)row * cols;\n"
               "  float sum = 0;\n  " +
                   body + "\n  y[row] = sum;\n}\n");
  return folder.write(name + "/kernel.toml",
                      "op = \"sum\"\nsource = \"kernel.cu\"\ndtypes = [\"f32\"]\n[dims]\nrows = " + rows +
                          "\ncols = " + cols +
                          "\n[[launch]]\nkernel = \"row_sum\"\ngrid = [\"max(1, ceil_div(rows, 32))\"]\n"
                          "block = [\"32\"]\nargs = [\"x\", \"y\", \"rows\", \"cols\"]\n");
}

struct Verified {
  ProgramRun run;
  nlohmann::json json;
};

Verified verified(const std::string& manifest, const TemporaryFolder& folder) {
  const std::string file = folder / "verify.json";
  Verified result;
  result.run = run_assay({"verify", manifest, "--device", "cpu", "--json", file});
  result.json = nlohmann::json::parse(slurp(file), nullptr, false);
  std::istringstream lines(result.run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
  return result;
}

constexpr const char* right = "for (int c = 0; c < cols; ++c) sum += in[c];";

TEST(VerifyCommand, ARightKernelIsExitZeroAndTheTableNamesEveryTensor) {
  const TemporaryFolder folder;
  const auto [run, json] = verified(sum_kernel(folder, "right", right), folder);
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("fudge 2")) << "the tolerance is told";
  for (const char* column :
       {"Tensor", "Ref/golden", "Condition", "Target error", "Threshold", "Gate valid", "Verdict"})
    EXPECT_THAT(run.out, HasSubstr(column));
  EXPECT_THAT(run.out, HasSubstr("right PASS"));
  EXPECT_THAT(run.out, HasSubstr("Not covered"));
  EXPECT_EQ(json["kernel"], "right");
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_THAT(json["verdict"].get<std::string>(), MatchesRegex("PASS( WITH LIMITATIONS)?"));
  ASSERT_EQ(json["tensors"].size(), 1u);
  EXPECT_EQ(json["tensors"][0]["tensor"], "y");
  EXPECT_FALSE(json["tested"].empty());
}

TEST(VerifyCommand, AFaultIsExitOne) {
  const TemporaryFolder folder;
  const auto [run, json] =
      verified(sum_kernel(folder, "wrong", "for (int c = 0; c < cols / 2 * 2; ++c) sum += in[c];"), folder);
  EXPECT_EQ(run.exit, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("wrong FAIL"));
  EXPECT_EQ(json["verdict"], "FAIL");
  EXPECT_EQ(json["tensors"][0]["verdict"], "FAIL");
}

TEST(VerifyCommand, WhereNothingIsJudgedItIsExitThree) {
  const TemporaryFolder folder;
  const auto [run, json] = verified(sum_kernel(folder, "empty", right, "0"), folder);
  EXPECT_EQ(run.exit, 3) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("empty INCONCLUSIVE"));
  EXPECT_EQ(json["verdict"], "INCONCLUSIVE");
}

TEST(VerifyCommand, TheWorstOfSeveralKernelsDecides) {
  const TemporaryFolder folder;
  const std::string good = sum_kernel(folder, "right", right, "2", "8");
  const std::string bad = sum_kernel(folder, "wrong", "sum = in[0];", "2", "8");
  const std::string file = folder / "verify.json";
  const ProgramRun run = run_assay({"verify", good, bad, "--device", "cpu", "--json", file});
  EXPECT_EQ(run.exit, 1) << run.out << run.err;
  const auto json = nlohmann::json::parse(slurp(file));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[1]["verdict"], "FAIL");
}

TEST(VerifyCommand, BadInputIsExitTwoAndOneLine) {
  const TemporaryFolder folder;
  const std::string manifest = folder.write("k/kernel.toml", "op = \"nonsense\"\n");
  for (const auto& command :
       {std::vector<std::string>{"verify"}, {"verify", folder / "none.toml"}, {"verify", manifest}}) {
    const ProgramRun run = run_assay(command);
    EXPECT_EQ(run.exit, 2) << run.out << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  }
}

TEST(BenchCommand, TimesNothingThatIsWrong) {
  const TemporaryFolder folder;
  const ProgramRun wrong =
      run_assay({"bench", sum_kernel(folder, "wrong", "sum = in[0];", "2", "8"), "--device", "cpu"});
  EXPECT_EQ(wrong.exit, 1) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("verify: FAIL"));
  EXPECT_THAT(wrong.out, ::testing::Not(HasSubstr("Iterations")));
  const ProgramRun good = run_assay(
      {"bench",
       sum_kernel(folder, "right", right, "4", "{ min = 1, max = 64, near = [8], production = [64] }"),
       "--device", "cpu", "--seconds", "0.05"});
  EXPECT_EQ(good.exit, 0) << good.out << good.err;
  EXPECT_THAT(good.out, HasSubstr("says nothing of a GPU"));
  EXPECT_THAT(good.out, HasSubstr("right forward f32 rows=4 cols=64"));
  EXPECT_THAT(good.out, HasSubstr("bytes_per_second"));
}

} // namespace
} // namespace assay::testing
