// The example of an operator that a user wrote: built, verified and fuzzed as a user would, and kept from
// running where only a case asks for it.
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>

namespace assay::testing {
namespace {

using ::testing::AnyOf;
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
