// Timing by events and replay from a graph, over a driver of C++ functions with a clock of its own.
#include "harness/device/graph_replay.h"
#include "harness/device/launch_timer.h"
#include "tests/cuda/cuda_device_fixture.h"

#include <thread>

namespace assay {
namespace {

using ::testing::DoubleNear;
using testing::doubles;
using ::testing::Each;
using testing::FakeGpuLaunch;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr cuda::Status illegal_address = 700;
constexpr std::size_t mebi = std::size_t{1} << 20;

class RepeatedLaunches : public testing::CudaDeviceTest {
 protected:
  std::vector<LaunchSpec> twice() const {
    LaunchSpec spec;
    spec.entry = "k";
    spec.block = {32};
    spec.args = {x, y, s};
    return {spec, spec};
  }
  Result<std::vector<double>> times(int repeats) {
    return dynamic_cast<LaunchTimer&>(*device).time_launches(*program, twice(), repeats);
  }
  GraphReplay::Outcome graph() {
    const auto outcome = dynamic_cast<GraphReplay&>(*device).replay_in_graph(*program, twice());
    EXPECT_TRUE(outcome) << to_string(outcome.error());
    return outcome ? *outcome : GraphReplay::Outcome{"an error"};
  }
};

TEST_F(RepeatedLaunches, TimeIsWhatTheEventsSayOfTheLaunchesAlone) {
  kernel([](const FakeGpuLaunch& l) { return doubles(l), 0; });
  testing::fake_gpu().memory = 96 * mebi;
  testing::fake_gpu().launch_seconds = 5e-6; // two launches: 10 us, whatever the caches' flushing takes
  open();
  new_case();
  device->fill_zero(s);
  for (int i = 0; i < 2; ++i) {
    const auto seconds = times(4);
    ASSERT_TRUE(seconds) << to_string(seconds.error());
    EXPECT_THAT(*seconds, SizeIs(4));
    EXPECT_THAT(*seconds, Each(DoubleNear(10e-6, 1e-9)));
  }
  const auto report = launch(); // a case is launched as if it had never been timed
  ASSERT_TRUE(report);
  EXPECT_THAT(report->faults, IsEmpty());
  EXPECT_THAT(read(y), ::testing::ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
}

TEST_F(RepeatedLaunches, LongLaunchesAreTimedLessOften) {
  kernel([](const FakeGpuLaunch& l) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return doubles(l), 0;
  });
  options.watchdog = std::chrono::seconds(10);
  testing::fake_gpu().memory = 96 * mebi;
  testing::fake_gpu().launch_seconds = 0.3;
  open();
  new_case();
  const auto seconds = times(1000);
  ASSERT_TRUE(seconds) << to_string(seconds.error());
  EXPECT_THAT(*seconds, SizeIs(1)); // the second run ends after 1.2 s
  EXPECT_THAT(*seconds, Each(DoubleNear(0.6, 1e-6)));
}

TEST_F(RepeatedLaunches, ACopyReadsAndWritesEveryByte) {
  kernel([](const FakeGpuLaunch&) { return 0; });
  testing::fake_gpu().memory = 160 * mebi; // room for two of 64 MiB
  testing::fake_gpu().bytes_per_second = 2e12;
  open();
  const auto bandwidth = dynamic_cast<LaunchTimer&>(*device).copy_bandwidth();
  ASSERT_TRUE(bandwidth) << to_string(bandwidth.error());
  EXPECT_NEAR(*bandwidth, 4e12, 4e12 * 1e-5);
}

TEST_F(RepeatedLaunches, AKernelThatFaultsIsNotTimed) {
  kernel([](const FakeGpuLaunch&) { return illegal_address; });
  testing::fake_gpu().memory = 96 * mebi;
  open();
  new_case();
  const auto seconds = times(1);
  ASSERT_FALSE(seconds);
  EXPECT_EQ(seconds.error().kind, ErrorKind::environment);
  EXPECT_THAT(seconds.error().message, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(RepeatedLaunches, AGraphOfARightKernelGivesTheBitsOfPlainLaunches) {
  kernel([](const FakeGpuLaunch& l) { return doubles(l), 0; });
  open();
  new_case();
  const GraphReplay::Outcome outcome = graph();
  EXPECT_EQ(outcome.broken, "");
  EXPECT_TRUE(outcome.steady);
  EXPECT_EQ(testing::fake_counts().graphs, 2);
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
}

// Sums into scratch that the host clears: a graph has the clearing in it, as a launcher's would.
TEST_F(RepeatedLaunches, AGraphClearsWhatALauncherClears) {
  kernel([](const FakeGpuLaunch& l) {
    l.pointer<float>(2)[0] += 1;
    doubles(l);
    l.pointer<float>(1)[0] = l.pointer<float>(2)[0];
    return 0;
  });
  open();
  new_case();
  device->fill_zero(s);
  EXPECT_EQ(graph().broken, "");
}

TEST_F(RepeatedLaunches, AVariableThatNoLaunchSetsBackShowsInTheSecondReplay) {
  kernel(
      [](const FakeGpuLaunch& l) {
        doubles(l);
        l.pointer<float>(1)[3] = static_cast<float>(++*l.variable);
        return 0;
      },
      testing::fake_variable);
  open();
  new_case();
  const GraphReplay::Outcome outcome = graph();
  EXPECT_EQ(outcome.broken, "y[3] is not what plain launches give it after the second replay");
}

TEST_F(RepeatedLaunches, ResultsThatDifferWithoutAGraphTooAreNotBlamedOnIt) {
  kernel([](const FakeGpuLaunch& l) {
    static int calls = 0; // of the device's process
    doubles(l);
    l.pointer<float>(1)[3] = static_cast<float>(++calls);
    return 0;
  });
  open();
  new_case();
  const GraphReplay::Outcome outcome = graph();
  EXPECT_EQ(outcome.broken, "");
  EXPECT_FALSE(outcome.steady);
}

TEST_F(RepeatedLaunches, ALaunchThatCannotBeCaptured) {
  kernel([](const FakeGpuLaunch& l) { return doubles(l), 0; });
  testing::fake_gpu().refused_in_graph = "k";
  open();
  new_case();
  EXPECT_EQ(graph().broken, "the launches cannot be captured: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
}

} // namespace
} // namespace assay
