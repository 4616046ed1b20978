// What is made of bursts: memory that a kernel should not touch, launches that do not end, what the host
// looks at and for how much of the time, and the loud error.
#include "fuzz/bursts.h"
#include "tests/screen/screen_fixture.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <chrono>

namespace assay {
namespace {

using testing::ScreenedKernel;
using testing::value_of;

// relu of f32, one element a thread, with a body that may do something else.
std::string relu_with(const TemporaryFolder& folder, const std::string& body) {
  folder.write("kernel.cu", R"(
extern "C" __global__ void relu(const float* x, float* y, float* scratch, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  )" + body + "\n}\n");
  return folder.write("kernel.toml", R"toml(op = "relu"
source = "kernel.cu"
dtypes = ["f32"]
[dims]
n = { min = 1, max = 4096 }
[[launch]]
kernel = "relu"
grid = ["ceil_div(n, 64)"]
block = ["64"]
args = ["x", "y", "scratch", "n:i32"]
[scratch]
scratch = { shape = ["n"], dtype = "f32" }
)toml");
}

struct Outcome {
  Burst burst;
  std::uint32_t flags = 0; // of all cases
  bool input_changed = false;
};

Outcome burst_of(const std::string& manifest, std::uint64_t count = 15) {
  ScreenedKernel screened(manifest);
  const CaseSpace space = screened.space(DType::f32, Pass::forward, {{"n", 70}});
  Outcome outcome{screened.burst(screened.plain(space, Pass::forward), space, count)};
  for (const ScreenedCase& each : testing::all_of(outcome.burst)) {
    outcome.flags |= each.memory.flags;
    outcome.input_changed = outcome.input_changed || each.memory.input_sum != 0;
  }
  if (outcome.burst.parent()) outcome.flags |= outcome.burst.parent()->memory.flags;
  return outcome;
}

TEST(BurstMemory, ARightKernelTouchesNothing) {
  const TemporaryFolder folder;
  const Outcome outcome = burst_of(
      relu_with(folder, "if (i < n) { scratch[i] = x[i]; y[i] = scratch[i] < 0 ? 0 : scratch[i]; }"));
  EXPECT_EQ(outcome.flags, 0u);
  EXPECT_EQ(outcome.burst.clean(), 15u);
  EXPECT_EQ(outcome.burst.twins, 2u); // of two waves of 8
}

TEST(BurstMemory, AWritePastTheOutputIsSeen) {
  const TemporaryFolder folder;
  const Outcome outcome = burst_of(relu_with(folder, "if (i <= n) y[i] = i < n && x[i] > 0 ? x[i] : 0;"));
  EXPECT_EQ(outcome.flags, memory_flag::band);
  EXPECT_EQ(outcome.burst.clean(), 0u);
}

TEST(BurstMemory, AChangedInputIsSeen) {
  const TemporaryFolder folder;
  const Outcome outcome = burst_of(relu_with(
      folder, "if (i < n) { y[i] = x[i] < 0 ? 0 : x[i]; if (i == 5) const_cast<float*>(x)[i] = 77; }"));
  EXPECT_TRUE(outcome.input_changed);
  EXPECT_EQ(outcome.burst.clean(), 0u);
}

TEST(BurstMemory, AnUnwrittenElementIsSeen) {
  const TemporaryFolder folder;
  const Outcome outcome = burst_of(relu_with(folder, "if (i < n && i != 69) y[i] = x[i] < 0 ? 0 : x[i];"));
  EXPECT_TRUE((outcome.flags & memory_flag::unwritten) != 0);
  EXPECT_EQ(outcome.burst.clean(), 0u);
}

// The poison of the first world is a NaN that fmaxf drops: only the twin shows that scratch was never
// written.
TEST(BurstMemory, AReadOfScratchThatNobodyWroteIsSeenInTheTwin) {
  const TemporaryFolder folder;
  const Outcome outcome = burst_of(relu_with(folder, "if (i < n) y[i] = fmaxf(fmaxf(x[i], 0), scratch[i]);"));
  EXPECT_EQ(outcome.flags, memory_flag::world);
}

// Some of the neighbours hold such a number; the parent does not.
TEST(BurstLaunches, ATrapLosesItsBatchAndIsFoundAgain) {
  const TemporaryFolder folder;
  ScreenedKernel screened(
      relu_with(folder, "if (i < n) { if (x[i] > 1e20f) __trap(); y[i] = x[i] < 0 ? 0 : x[i]; }"), 64);
  const CaseSpace space = screened.space(DType::f32, Pass::forward, {{"n", 70}});
  const Case parent = screened.plain(space, Pass::forward);
  const auto bursts = Bursts::create(*screened.kernel, {.wave_cases = 64});
  const Judgement judgement = value_of(judge(*screened.kernel, parent));
  std::size_t trapped = 0;
  std::uint64_t lost = 0;
  for (int i = 0; i < 3 && trapped == 0; ++i) {
    const auto summary =
        value_of(bursts->after(parent, judgement, 1000, space, 63, [&](const Case& neighbour) {
          auto judged = value_of(judge(*screened.kernel, neighbour));
          for (const Finding& finding : judged.findings) trapped += finding.signature.kind == Kind::trap;
          return std::optional(std::move(judged));
        }));
    ASSERT_TRUE(summary.has_value());
    lost += summary->unjudged;
  }
  EXPECT_GT(trapped, 0u);
  EXPECT_GT(lost, 0u);
}

TEST(Bursts, ADeviceWithoutBatchesHasNone) {
  const auto device = value_of(make_cpu_device());
  const auto kernel = value_of(Kernel::load(ASSAY_KERNELS "/relu/kernel.toml", *device));
  EXPECT_EQ(Screen::create(*kernel), nullptr);
  EXPECT_EQ(Bursts::create(*kernel), nullptr);
}

// Cases that are all flagged alike: few are judged, the others count as what they are.
TEST(Bursts, OfManyFlaggedAlikeAFewAreJudgedAndTheOthersDoNotCount) {
  const TemporaryFolder folder;
  ScreenedKernel screened(relu_with(folder, "if (i < n) y[i] = x[i] < 0 ? 0 : x[i] + 1;"), 32);
  const CaseSpace space = screened.space(DType::f32, Pass::forward, {{"n", 70}});
  const Case parent = screened.plain(space, Pass::forward);
  const auto bursts = Bursts::create(*screened.kernel, {.wave_cases = 32});
  std::uint64_t judged = 0;
  const auto summary = value_of(bursts->after(
      parent, value_of(judge(*screened.kernel, parent)), 1000, space, 31, [&](const Case& neighbour) {
        ++judged;
        return std::optional(value_of(judge(*screened.kernel, neighbour)));
      }));
  ASSERT_TRUE(summary.has_value());
  EXPECT_GE(judged, 1u);
  EXPECT_LE(judged, 16u);
  EXPECT_EQ(summary->screened + bursts->looks().sampled + summary->unjudged + bursts->looks().flagged, 31u);
  EXPECT_GT(summary->unjudged, 0u);
  EXPECT_FALSE(summary->disagreement.has_value());
}

// The host's cases pay for the bursts.
TEST(Bursts, TakeNoMoreTimeThanTheirShare) {
  ScreenedKernel screened(ASSAY_KERNELS "/relu/kernel.toml");
  const CaseSpace space = screened.space(DType::f32, Pass::forward, {{"n", 70}});
  const Case parent = screened.plain(space, Pass::forward);
  const Judgement judgement = value_of(judge(*screened.kernel, parent));
  const auto bursts = Bursts::create(*screened.kernel, {.wave_cases = 4});
  const auto next = [&](double seconds) {
    return value_of(bursts->after(parent, judgement, seconds, space, 3,
                                  [&](const Case& neighbour) {
                                    return std::optional(value_of(judge(*screened.kernel, neighbour)));
                                  }))
        .has_value();
  };
  EXPECT_TRUE(next(1e-9));  // the first
  EXPECT_FALSE(next(1e-9)); // it took longer than that
  EXPECT_TRUE(next(1000));
  EXPECT_FALSE(
      value_of(bursts->after(parent, judgement, 1000, space, 0, nullptr)).has_value()); // no case is left
}

// A screen that calls everything clean, as a broken one might.
class BlindBatch : public testing::CpuBatch {
 public:
  Result<BatchOutcome> collect() override {
    ASSAY_TRY(BatchOutcome outcome, CpuBatch::collect());
    for (std::vector<std::byte>& array : outcome.results)
      if (blind) std::ranges::fill(array, std::byte{0});
    return outcome;
  }
  bool blind = true;
};

std::optional<Disagreement> looked_at(BlindBatch& device, const std::string& manifest, bool sees_again) {
  const auto kernel = value_of(Kernel::load(manifest, device));
  const auto screen = Screen::create(*kernel, {.wave_cases = 8});
  const Case parent = value_of(repair(Case{}, kernel->space()));
  const Burst burst =
      value_of(screen->burst(parent, kernel->space(), {.seed = 1, .seconds = 1000, .most = 7}));
  EXPECT_TRUE(burst.parent()->clean());
  Recheck recheck(*kernel, *screen);
  const Judgement judgement = value_of(judge(*kernel, parent));
  EXPECT_FALSE(judgement.findings.empty());
  device.blind = !sees_again;
  return value_of(recheck.look_at(burst, judgement, 1e-3, [&](const Case& neighbour) {
    return std::optional(value_of(judge(*kernel, neighbour)));
  }));
}

TEST(Disagreement, OfTheHostAndABlindScreenIsLoud) {
  const TemporaryFolder folder;
  BlindBatch device;
  const auto found =
      looked_at(device, relu_with(folder, "if (i < n) y[i] = x[i] < 0 ? 0 : x[i] + 1;"), false);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->message.contains("the screen calls clean what the host suspects")) << found->message;
}

// What the screen sees the next time is a kernel's that does not do the same twice.
TEST(Disagreement, ThatDoesNotComeBackIsNone) {
  const TemporaryFolder folder;
  BlindBatch device;
  EXPECT_FALSE(
      looked_at(device, relu_with(folder, "if (i < n) y[i] = x[i] < 0 ? 0 : x[i] + 1;"), true).has_value());
}

// Numbers alone: another golden, or another fill, would show here.
TEST(Disagreement, IsAlsoOfErrorsThatDiffer) {
  ScreenedKernel screened(ASSAY_KERNELS "/mean/kernel.toml");
  const CaseSpace space = screened.space(DType::f32, Pass::forward, {{"rows", 3}, {"cols", 40}});
  const Case parent = screened.plain(space, Pass::forward);
  const Burst burst = screened.burst(parent, space, 7);
  ASSERT_FALSE(burst.sample().empty());
  const Trial trial = value_of(run_trial(*screened.kernel, burst.case_of(burst.sample().front())));
  ScreenedCase each = burst.sample().front();
  EXPECT_FALSE(contradiction(*screened.kernel, each, burst.facts, trial).has_value());
  each.record.outputs[0].target_error *= 1.001f;
  EXPECT_TRUE(contradiction(*screened.kernel, each, burst.facts, trial).has_value());
  each = burst.sample().front();
  each.record.outputs[0].reference_error += 1e-3f * (each.record.outputs[0].reference_error + 1e-6f);
  EXPECT_TRUE(contradiction(*screened.kernel, each, burst.facts, trial).has_value());
  JudgeFacts other = burst.facts;
  other.same_reference = false;
  EXPECT_FALSE(contradiction(*screened.kernel, each, other, trial).has_value());
}

} // namespace
} // namespace assay
