#include "tests/device/kernel_fixture.h"

namespace assay::cpu::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Barriers : KernelTest {};

// tile[t] = t; barrier; y[t] = tile[(t + 64) % 128]
void exchange(Warp* warp) {
  const auto t = [&](unsigned lane) { return thread_of(warp, lane); };
  store(warp, ~0u, shared_element<std::uint32_t>(t), each(t), 10, Space::shared);
  barrier(warp, 11);
  const auto other = load<std::uint32_t>(
      warp, ~0u, shared_element<std::uint32_t>([&](unsigned lane) { return (t(lane) + 64) % 128; }), 12,
      Space::shared);
  store(warp, ~0u, element<std::uint32_t>(warp, 0, t), other.value, 13);
}

TEST_F(Barriers, EverybodySeesWhatWasWrittenBefore) {
  const BufferId y = buffer("y", BufferRole::output, DType::i32, {128});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_THAT(run(exchange, {.block = {128}, .static_shared = 512, .seed = seed}, {y}).faults, IsEmpty());
    const auto result = contents<std::uint32_t>(y, 128);
    for (std::uint32_t i = 0; i < 128; ++i) ASSERT_EQ(result[i], (i + 64) % 128);
  }
}

TEST_F(Barriers, ReductionsOverTheBlock) {
  const auto reduce = [](Warp* warp) {
    const Mask even = 0x55555555;
    EXPECT_EQ(barrier(warp, 20, 1, 0, BarrierMode::reduce_popc, even), 48u);
    EXPECT_EQ(barrier(warp, 21, 1, 0, BarrierMode::reduce_and, warp->warp_index == 2 ? ~1u : ~0u), 0u);
    EXPECT_EQ(barrier(warp, 22, 1, 0, BarrierMode::reduce_and, ~0u), ~0u);
    EXPECT_EQ(barrier(warp, 23, 1, 0, BarrierMode::reduce_or, warp->warp_index == 2 ? 1 : 0), ~0u);
    EXPECT_EQ(barrier(warp, 24, 1, 0, BarrierMode::reduce_or, 0), 0u);
  };
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_THAT(run(reduce, {.block = {96}, .seed = seed}, {}).faults, IsEmpty());
}

TEST_F(Barriers, ExitedWarpsCountAsArrived) {
  const auto leave_early = [](Warp* warp) {
    if (warp->warp_index >= 2) return;
    barrier(warp, 30);
    barrier(warp, 31);
  };
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_THAT(run(leave_early, {.grid = {2}, .block = {128}, .seed = seed}, {}).faults, IsEmpty());
}

TEST_F(Barriers, ABlockOf48ThreadsMeetsItself) {
  const auto meet = [](Warp* warp) {
    barrier(warp, 30);
    EXPECT_EQ(barrier(warp, 31, 0, 0, BarrierMode::reduce_popc, ~0u & warp->alive), 48u);
  };
  EXPECT_THAT(run(meet, {.block = {48}}, {}).faults, IsEmpty());
}

TEST_F(Barriers, WarpsAtDifferentBarriersAreAFault) {
  const auto diverge = [](Warp* warp) { barrier(warp, warp->warp_index == 0 ? 40 : 44); };
  const LaunchReport report = run(diverge, {.block = {64}}, {});
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_EQ(run(diverge, {.block = {64}, .seed = seed}, {}).faults.at(0).place.line, 40);
  ASSERT_THAT(kinds(report), ElementsAre(Kind::barrier));
  EXPECT_THAT(report.faults[0].message, HasSubstr("kernel.cu:40"));
  EXPECT_THAT(report.faults[0].message, HasSubstr("kernel.cu:44"));
}

TEST_F(Barriers, MissingParticipantsAreNamed) {
  const auto wait_for_ever = [](Warp* warp) { barrier(warp, 50, 1 + warp->warp_index); };
  const LaunchReport report = run(wait_for_ever, {.block = {64}}, {});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::barrier));
  EXPECT_THAT(report.faults[0].message,
              HasSubstr("warp 0 at barrier 1 (32 of 64 threads arrived), kernel.cu:50"));
  EXPECT_THAT(report.faults[0].message, HasSubstr("warp 1 at barrier 2"));
}

TEST_F(Barriers, ProducersArriveConsumersWait) {
  const auto pipeline = [](Warp* warp) {
    if (warp->warp_index == 0) {
      store(warp, ~0u, shared_element<float>([](unsigned lane) { return lane; }),
            each([](unsigned) { return 7.0f; }), 60, Space::shared);
      barrier(warp, 61, 3, 64, BarrierMode::arrive);
    } else if (warp->warp_index == 1) {
      barrier(warp, 62, 3, 64);
      EXPECT_EQ(load<float>(warp, ~0u, shared_element<float>([](unsigned lane) { return 31 - lane; }), 63,
                            Space::shared)
                    .value[5],
                7.0f);
    }
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_THAT(run(pipeline, {.block = {96}, .static_shared = 128, .seed = seed}, {}).faults, IsEmpty());
}

TEST_F(Barriers, OperandsAreChecked) {
  EXPECT_THAT(kinds(run([](Warp* warp) { barrier(warp, 70, 16); }, {}, {})), ElementsAre(Kind::barrier));
  EXPECT_THAT(kinds(run([](Warp* warp) { barrier(warp, 70, 1, 33); }, {.block = {64}}, {})),
              ElementsAre(Kind::barrier));
  EXPECT_THAT(kinds(run([](Warp* warp) { barrier(warp, 70, 1, 96); }, {.block = {64}}, {})),
              ElementsAre(Kind::barrier));
  EXPECT_THAT(
      kinds_seen([](Warp* warp) { barrier(warp, 70, 1, warp->warp_index ? 64 : 96); }, {.block = {96}}, {}),
      ElementsAre(Kind::barrier));
}

} // namespace
} // namespace assay::cpu::testing
