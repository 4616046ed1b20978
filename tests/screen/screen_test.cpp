// The screen from end to end: what it calls clean the host finds nothing wrong with, right kernels are mostly
// clean, faulty ones are not.
#include "harness/screen/fill_source.h"
#include "harness/screen/source.h"
#include "tests/screen/screen_fixture.h"
#include "tests/support/temporary_folder.h"

#include <chrono>
#include <thread>

namespace assay {
namespace {

using testing::CpuBatch;
using testing::ScreenedKernel;
using testing::value_of;

struct Subject {
  const char* manifest;
  DType dtype;
  Pass pass;
  std::map<std::string, std::int64_t> dims;
};

class RightKernel : public ::testing::TestWithParam<Subject> {};

TEST_P(RightKernel, IsMostlyCleanAndWhatIsCleanTheHostDoesNotSuspect) {
  const Subject& subject = GetParam();
  ScreenedKernel screened(std::string(ASSAY_KERNELS "/") + subject.manifest + "/kernel.toml");
  const CaseSpace space = screened.space(subject.dtype, subject.pass, subject.dims);
  const Case parent = screened.plain(space, subject.pass);
  const Burst burst = screened.burst(parent, space, 47);
  EXPECT_EQ(burst.screened(), 47u);
  EXPECT_FALSE(burst.lost().has_value());
  EXPECT_GE(burst.clean(), 38u) << [&] {
    std::string why;
    for (const Burst::Flagged* alike : burst.by_weight())
      why += fmt::format("{} x {}\n", alike->count, reasons_text(alike->kept.front()));
    return why;
  }();
  ASSERT_TRUE(burst.parent().has_value());
  EXPECT_TRUE(burst.parent()->clean()) << reasons_text(*burst.parent());
  std::vector<ScreenedCase> clean = burst.sample();
  EXPECT_EQ(clean.size(), burst.clean());
  for (const ScreenedCase& each : clean) {
    const Case test_case = burst.case_of(each);
    const Trial trial = value_of(run_trial(*screened.kernel, test_case));
    if (burst.facts.same_reference)
      EXPECT_TRUE(trial.violations.empty()) << trial.violations.front().message << "\n" << to_text(test_case);
    const auto message = contradiction(*screened.kernel, each, burst.facts, trial);
    EXPECT_FALSE(message.has_value()) << *message << "\n" << to_text(test_case);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Screen, RightKernel,
    ::testing::Values(
        Subject{"rmsnorm", DType::bf16, Pass::forward, {{"rows", 3}, {"cols", 70}}},
        Subject{"rmsnorm", DType::bf16, Pass::backward, {{"rows", 3}, {"cols", 70}}},
        Subject{"softmax", DType::f16, Pass::forward, {{"rows", 2}, {"cols", 65}}},
        Subject{"swiglu", DType::bf16, Pass::forward, {{"n", 300}}},
        Subject{"quantize_rows_i8", DType::f32, Pass::forward, {{"rows", 3}, {"cols", 33}}},
        Subject{"gather_rows", DType::f16, Pass::forward, {{"rows", 5}, {"table_rows", 7}, {"cols", 12}}},
        Subject{"attention",
                DType::bf16,
                Pass::forward,
                {{"batch", 1}, {"heads", 2}, {"q_len", 5}, {"kv_len", 33}, {"head_dim", 16}}}),
    [](const auto& info) {
      return fmt::format("{}_{}_{}", info.param.manifest, name_of(info.param.dtype),
                         info.param.pass == Pass::forward ? "forward" : "backward");
    });

// Faults that show in some of the cases only, too: what the host finds in a burst the screen did not call
// clean.
class FaultyKernel : public ::testing::TestWithParam<Subject> {};

TEST_P(FaultyKernel, IsFlagged) {
  const Subject& subject = GetParam();
  ScreenedKernel screened(std::string(ASSAY_KERNELS "/faulty/") + subject.manifest + "/kernel.toml");
  const CaseSpace space = screened.space(subject.dtype, subject.pass, subject.dims);
  const Burst burst = screened.burst(screened.plain(space, subject.pass), space, 120,
                                     /*seed=*/3); // one that draws what each of them is wrong on
  EXPECT_GT(burst.flagged(), 0u);
  for (const ScreenedCase& each : burst.sample()) {
    const Trial trial = value_of(run_trial(*screened.kernel, burst.case_of(each)));
    EXPECT_FALSE(contradiction(*screened.kernel, each, burst.facts, trial).has_value());
  }
}

// Nothing has been compiled yet, and nobody waits.
TEST(ScreenPrograms, AreCompiledByAChildUntilTheyAreReady) {
  const TemporaryFolder folder;
  CpuBatch device;
  const auto kernel = value_of(Kernel::load(ASSAY_KERNELS "/relu/kernel.toml", device));
  const auto screen = Screen::create(*kernel, {.cache_dir = folder.path(), .wave_cases = 8, .ahead = true});
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(screen->ready(Pass::forward, DType::f32));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(500));
  while (!screen->ready(Pass::forward, DType::f32))
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (const PtxSource& source :
       {value_of(fill_source(folder.path())), value_of(judging_source({"relu"}, folder.path()))})
    EXPECT_FALSE(source.text.empty());
  CompileReport report;
  ASSERT_TRUE(judging_source({"relu"}, folder.path(), &report));
  EXPECT_TRUE(report.cached);
}

// What does not compile is told at the first burst, and is no reason to compile it again.
TEST(ScreenPrograms, ThatDoNotCompileAreNeverWaitedFor) {
  const TemporaryFolder folder;
  CpuBatch device;
  const auto kernel = value_of(Kernel::load(ASSAY_KERNELS "/gelu_erf/kernel.toml", device));
  const auto screen = Screen::create(*kernel, {.ahead = true});
  while (!screen->ready(Pass::forward, DType::f64))
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(screen->ready(Pass::forward, DType::f64));
}

INSTANTIATE_TEST_SUITE_P(
    Screen, FaultyKernel,
    ::testing::Values(
        Subject{"rmsnorm_backward_missing_mean", DType::bf16, Pass::backward, {{"rows", 3}, {"cols", 70}}},
        Subject{"gather_rows_swapped_strides",
                DType::f32,
                Pass::forward,
                {{"rows", 5}, {"table_rows", 7}, {"cols", 12}}},
        Subject{"quantize_rows_half_away", DType::f32, Pass::forward, {{"rows", 3}, {"cols", 33}}}),
    [](const auto& info) { return std::string(info.param.manifest); });

} // namespace
} // namespace assay
