#include "harness/base/files.h"
#include "harness/run/replay.h"
#include "tests/run/softmax_fixture.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

// A repository of two kernels on the fake device, which tells them apart by their entry's name.
class Replay : public ::testing::Test {
 protected:
  void SetUp() override {
    write_kernel("naive");
    write_kernel("right");
    device_.add("naive", {8, 8, 4}, naive_softmax);
    device_.add("right", {8, 8, 4}, right_softmax);
    case_ = SoftmaxOnFake(right_softmax).make_case(1, 2, "constant(value=100)");
    case_.manifest = "kernels/naive/kernel.toml";
    case_.source_hash.clear();
  }

  void write_kernel(const std::string& name, const std::string& extra = "") {
    std::string manifest = softmax_manifest;
    manifest.replace(manifest.find("\"fake\""), 6, "\"" + name + "\"");
    manifest.replace(manifest.find("kernel = \"softmax\""), 18, "kernel = \"" + name + "\"");
    const fs::path folder = folder_ / "kernels" / name;
    ASSERT_TRUE(write_file(folder / "kernel.toml", manifest + extra));
    ASSERT_TRUE(
        write_file(folder / "fake.ptx", ".version 8.0\n.visible .entry " + name + "()\n{\nret;\n}\n"));
  }

  Result<ReplayOutcome> replayed(const std::optional<fs::path>& replacement = std::nullopt) {
    KernelCache kernels(device_);
    return replay(case_, folder_ / "corpus" / "some.case", kernels, replacement);
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
  FakeDevice device_;
  Case case_;
};

TEST_F(Replay, AFreshFindingFailsUntilTheKernelIsMended) {
  const auto outcome = replayed();
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->status, ReplayStatus::failed);
  EXPECT_THAT(outcome->why, HasSubstr("naive-forward-y-structure"));
  const auto mended = replayed(folder_ / "kernels/right/kernel.toml");
  ASSERT_TRUE(mended) << to_string(mended.error());
  EXPECT_EQ(mended->status, ReplayStatus::passed);
}

TEST_F(Replay, AnExpectedFailurePassesOnlyWithItsOwnSignature) {
  case_.expect = {false, "naive-forward-y-structure"};
  EXPECT_EQ(replayed()->status, ReplayStatus::passed);
  case_.expect = {false, "naive-forward-y-gate"};
  const auto other = replayed();
  EXPECT_EQ(other->status, ReplayStatus::failed);
  EXPECT_THAT(other->why, HasSubstr("naive-forward-y-gate is expected"));
}

TEST_F(Replay, ADeviceThatKnowsNoPlaceShowsAnExpectedFaultAllTheSame) {
  const auto fault = [](Kind kind, const std::string& buffer) {
    return [=](FakeLaunch& launch) { launch.faults.push_back({kind, buffer, {}, "seen", false}); };
  };
  const auto status_of = [&](const std::string& expected) {
    case_.expect = {false, expected};
    return replayed()->status;
  };
  device_.add("naive", {8, 8, 4}, fault(Kind::out_of_bounds, "x"));
  EXPECT_EQ(status_of("naive-forward-x-out_of_bounds-naive.cu-26"), ReplayStatus::passed);
  EXPECT_EQ(status_of("naive-forward-y-out_of_bounds-naive.cu-26"), ReplayStatus::failed);
  EXPECT_EQ(status_of("naive-forward-x-race-naive.cu-26"), ReplayStatus::failed);
  device_.add("naive", {8, 8, 4}, fault(Kind::input_modified, "x"));
  EXPECT_EQ(status_of("naive-forward-x-input_modified-naive.cu-26"), ReplayStatus::passed);
  device_.add("naive", {8, 8, 4}, fault(Kind::misaligned, "")); // whose memory is not known either
  EXPECT_EQ(status_of("naive-forward-x-misaligned-naive.cu-26"), ReplayStatus::passed);
  EXPECT_EQ(status_of("naive-backward-x-misaligned-naive.cu-26"), ReplayStatus::failed);
  EXPECT_EQ(status_of("naive-forward-x-trap-naive.cu-26"), ReplayStatus::failed);
}

TEST_F(Replay, AnExpectedFailureThatPassesIsFixedAndCountsAsFailed) {
  case_.manifest = "kernels/right/kernel.toml";
  case_.expect = {false, "right-forward-y-structure"};
  const auto outcome = replayed();
  EXPECT_EQ(outcome->status, ReplayStatus::fixed);
  EXPECT_THAT(outcome->why, HasSubstr("fixed"));
}

TEST_F(Replay, AKernelIsFoundByItsName) {
  case_.manifest = "right";
  const auto outcome = replayed();
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->status, ReplayStatus::passed);
}

TEST_F(Replay, AVanishedKernelIsAnError) {
  case_.manifest = "kernels/gone/kernel.toml";
  const auto outcome = replayed();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::user);
  EXPECT_THAT(to_string(outcome.error()), HasSubstr("some.case"));
  EXPECT_THAT(outcome.error().message, HasSubstr("kernels/gone/kernel.toml is not there"));
}

TEST_F(Replay, ALooserToleranceThanRecordedIsAnnouncedAndFails) {
  write_kernel("right", "[tolerance]\nfudge = 4.0\n");
  case_.manifest = "kernels/right/kernel.toml";
  const auto outcome = replayed();
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->status, ReplayStatus::failed);
  EXPECT_THAT(outcome->why, HasSubstr("fudge 4 (recorded 2)"));
  EXPECT_THAT(outcome->notes, ::testing::Contains(HasSubstr("looser")));
}

TEST_F(Replay, AChangedSourceIsANote) {
  case_.manifest = "kernels/right/kernel.toml";
  case_.source_hash = "00000000000000000000000000000000";
  const auto outcome = replayed();
  EXPECT_EQ(outcome->status, ReplayStatus::passed);
  EXPECT_THAT(outcome->notes, ::testing::Contains(HasSubstr("source has changed")));
}

} // namespace
} // namespace assay::testing
