// Batches over the fake driver: that what must not run at once does not, that every pointer is the right one,
// and that results come back to their cases.
#include "tests/cuda/batch_fixture.h"

namespace assay {
namespace {

using testing::Area;
using testing::BatchTest;
using ::testing::ElementsAre;
using testing::fake_counts;
using testing::FakeGpuLaunch;
using testing::Over;
using testing::slot_bytes;

TEST_F(BatchTest, EveryCaseGetsItsOwnResult) {
  open();
  open_batch(sums(4));
  for (const std::size_t cases : {1, 3, 4, 5, 8, 27}) expect_sums(outcome_of(cases), cases);
}

TEST_F(BatchTest, TwinsAreFilledAndLaunchedAndTheirResultsAreNotTheCases) {
  open();
  Batch batch = sums(4, 2);
  testing::add_fake_kernel("compare", {8, 4, 8}, [](const FakeGpuLaunch&) { return 0; });
  open_batch(batch);
  for (const std::size_t cases : {1, 4, 9}) expect_sums(outcome_of(cases), cases);
  // 9 cases in waves of 4, 4 and 1 with 2, 2 and 1 twins: fill, judge and two launches a slot.
  const int before = fake_counts().launched;
  expect_sums(outcome_of(9), 9);
  EXPECT_EQ(fake_counts().launched - before, 3 * 2 + 2 * (9 + 5));
}

TEST_F(BatchTest, ATwinIsSeenBehindTheCasesOfItsWave) {
  testing::add_fake_kernel("compare", {8, 4, 8}, [](const FakeGpuLaunch& l) {
    for (unsigned b = 0; b < l.grid[0]; ++b) {
      const std::int64_t* slots = l.pointer<std::int64_t>(0);
      l.pointer<std::int64_t>(2)[b] = slots[(l.scalar<std::uint32_t>(1) + b) * slot_bytes / 8 + 2];
    }
    return 0;
  });
  ptx = testing::fake_ptx({"fill", "first", "second", "judge", "compare"});
  open();
  Batch batch = sums(4, 2);
  batch.result_bytes = {8, 8};
  batch.steps.push_back(
      step(Over::twins, "compare", {at(Area::slot), at(Area::cases), at(Area::results, 1)}));
  open_batch(batch);
  const BatchOutcome outcome = outcome_of(9);
  expect_sums(outcome, 9);
  EXPECT_THAT(results<std::int64_t>(outcome, 1),
              ElementsAre(2, 4, -1, -1, 10, 12, -1, -1, 18)); // -1: never written
}

TEST_F(BatchTest, EveryAreaIsWhereItShouldBe) {
  struct Seen {
    std::uint32_t cases;
    std::uint8_t one;
    std::uint16_t two;
    std::uint64_t eight, common, given, alignment;
  };
  testing::add_fake_kernel("show", {8, 8, 8, 8, 8, 4, 1, 2, 8}, [](const FakeGpuLaunch& l) {
    const auto bits = l.scalar<std::uint64_t>(0) | (l.scalar<std::uint64_t>(1) - 8) |
                      (l.scalar<std::uint64_t>(2) - 16) | (l.scalar<std::uint64_t>(3) - 24) |
                      l.scalar<std::uint64_t>(4);
    for (unsigned b = 0; b < l.grid[0]; ++b)
      l.pointer<Seen>(4)[b] = {l.scalar<std::uint32_t>(5),
                               l.scalar<std::uint8_t>(6),
                               l.scalar<std::uint16_t>(7),
                               l.scalar<std::uint64_t>(8),
                               *l.pointer<std::uint64_t>(0),
                               *l.pointer<std::uint64_t>(1),
                               bits % 256};
    *l.pointer<std::int64_t>(3) = 1; // scratch is there
    return 0;
  });
  ptx = testing::fake_ptx({"show"});
  open();
  Batch batch;
  batch.common.resize(300, std::byte{7});
  batch.given_bytes = 16;
  batch.slot_bytes = slot_bytes;
  batch.scratch_bytes = 100;
  batch.result_bytes = {3, sizeof(Seen)};
  batch.wave_cases = 4;
  batch.steps = {step(Over::cases, "show",
                      {at(Area::common, 0),
                       at(Area::given, 8),
                       at(Area::slot, 16),
                       at(Area::scratch, 24),
                       at(Area::results, 1),
                       at(Area::cases),
                       {Area::value, 200, 1},
                       {Area::value, 60000, 2},
                       {Area::value, std::uint64_t{1} << 40, 8}})};
  open_batch(batch);
  std::vector<std::uint64_t> given;
  for (std::uint64_t i = 0; i < 6; ++i) given.insert(given.end(), {i, 10 * i});
  ASSERT_TRUE(batches().submit(std::as_bytes(std::span(given)), 6));
  const auto outcome = batches().collect();
  ASSERT_TRUE(outcome);
  const auto seen = results<Seen>(*outcome, 1);
  ASSERT_EQ(seen.size(), 6);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(seen[i].cases, i < 4 ? 4 : 2);
    EXPECT_EQ(seen[i].one, 200);
    EXPECT_EQ(seen[i].two, 60000);
    EXPECT_EQ(seen[i].eight, std::uint64_t{1} << 40);
    EXPECT_EQ(seen[i].common, 0x0707070707070707);
    EXPECT_EQ(seen[i].given, i < 4 ? 0 : 40); // of the wave's first case
    EXPECT_EQ(seen[i].alignment, 0);
  }
}

TEST_F(BatchTest, BlocksAreNoMoreThanCases) {
  testing::add_fake_kernel("note", {8, 4}, [](const FakeGpuLaunch& l) {
    for (unsigned i = 0; i < l.scalar<std::uint32_t>(1); ++i)
      l.pointer<std::uint32_t>(0)[i] = l.grid[0] * 100 + l.grid[1];
    return 0;
  });
  ptx = testing::fake_ptx({"note"});
  open();
  Batch batch = sums(4);
  batch.result_bytes = {4};
  batch.steps = {step(Over::blocks, "note", {at(Area::results), at(Area::cases)})};
  batch.steps[0].grid = {3, 2, 1};
  open_batch(batch);
  EXPECT_THAT(results<std::uint32_t>(outcome_of(6)), ElementsAre(302, 302, 302, 302, 202, 202));
}

TEST_F(BatchTest, AGraphIsMadeForWavesThatComeAgain) {
  options.batch.lanes = 1;
  open();
  open_batch(sums(4, 1));
  expect_sums(outcome_of(14), 14); // three waves by the graph, two cases by launches
  EXPECT_EQ(fake_counts().graphs, 3);
  expect_sums(outcome_of(4), 4);
  EXPECT_EQ(fake_counts().graphs, 4);
  open_batch(sums(4, 1, 7));
  expect_sums(outcome_of(7), 7, 7); // one whole wave: is not worth a graph
  EXPECT_EQ(fake_counts().graphs, 4);
  expect_sums(outcome_of(4), 4, 7); // but now another one
  EXPECT_EQ(fake_counts().graphs, 5);
  options.batch.lanes = 3;
  open();
  open_batch(sums(4));
  expect_sums(outcome_of(16), 16); // of four waves the first and the last are of one lane
  EXPECT_EQ(fake_counts().graphs, 7);
}

TEST_F(BatchTest, AnyNumberOfChainsLanesAndStreamsGivesTheSame) {
  for (const unsigned lanes : {1u, 2u, 4u})
    for (const unsigned streams : {1u, 3u, 16u})
      for (const unsigned chains : {1u, 2u, 64u}) {
        options.batch = {lanes, streams, chains, 2};
        open();
        open_batch(sums(8, 3));
        expect_sums(outcome_of(50), 50);
        expect_sums(outcome_of(16), 16);
      }
}

TEST_F(BatchTest, AGraphOfTheSameShapeIsUsedAgain) {
  testing::add_fake_kernel("negative", {8, 8}, [](const FakeGpuLaunch& l) {
    return *l.pointer<std::int64_t>(1) = -2 * *l.pointer<std::int64_t>(0), 0;
  });
  testing::add_fake_kernel("ungraphed", {8, 8}, [](const FakeGpuLaunch& l) {
    return *l.pointer<std::int64_t>(1) = 2 * *l.pointer<std::int64_t>(0), 0;
  });
  testing::fake_gpu().refused_in_graph = "ungraphed";
  ptx = testing::fake_ptx({"fill", "first", "second", "judge", "negative", "ungraphed"});
  options.batch.lanes = 1;
  open();
  open_batch(sums(4, 1));
  expect_sums(outcome_of(8), 8);
  EXPECT_EQ(fake_counts().instantiated, 1);
  open_batch(sums(4, 1, 5)); // other memory, other common bytes
  expect_sums(outcome_of(10), 10, 5);
  EXPECT_EQ(fake_counts().instantiated, 1);
  EXPECT_EQ(fake_counts().replaced, 12); // fill, two kernels in five slots, judge

  Batch other = sums(4, 1, 0); // another kernel
  other.steps[2].entry = "negative";
  open_batch(other);
  EXPECT_THAT(results<std::int64_t>(outcome_of(8)), ElementsAre(-2, -4, -6, -8, -10, -12, -14, -16));
  EXPECT_EQ(fake_counts().instantiated, 1);

  open_batch(sums(4, 2)); // other shapes
  expect_sums(outcome_of(8), 8);
  open_batch(sums(3, 1));
  expect_sums(outcome_of(8), 8);
  EXPECT_EQ(fake_counts().instantiated, 3);
  open_batch(sums(4, 1));
  expect_sums(outcome_of(8), 8);
  EXPECT_EQ(fake_counts().instantiated, 3);

  other = sums(4, 1);
  other.steps[2].entry = "ungraphed"; // what it holds cannot be replaced
  open_batch(other);
  expect_sums(outcome_of(16), 16);
  open_batch(sums(4, 1));
  expect_sums(outcome_of(8), 8);
  EXPECT_EQ(fake_counts().instantiated, 4);
}

TEST_F(BatchTest, OnlySoManyGraphsAreKept) {
  options.batch.lanes = 2;
  open();
  for (int turn = 0; turn < 3; ++turn)
    for (std::uint32_t wave = 1; wave < 20; ++wave) {
      open_batch(sums(wave, wave / 3, turn));
      expect_sums(outcome_of(6 * wave), 6 * wave, turn);
    }
  EXPECT_GT(fake_counts().instantiated, 2 * 19);
}

TEST_F(BatchTest, AGraphThatCannotBeMadeIsDoneWithout) {
  testing::fake_gpu().refused_in_graph = "second";
  open();
  open_batch(sums(4));
  expect_sums(outcome_of(30), 30);
  EXPECT_EQ(fake_counts().graphs, 0);
}

// The kernel on trial leaves in z what shared memory held.
TEST_F(BatchTest, SharedMemoryIsDirtiedForTheTwinsOfKernelsThatHaveAny) {
  testing::add_fake_kernel("second", {8, 8}, [](const FakeGpuLaunch& l) {
    return *l.pointer<std::int64_t>(1) = l.shared_word, 0;
  });
  testing::add_fake_kernel("compare", {8, 4, 8}, [](const FakeGpuLaunch& l) {
    for (unsigned b = 0; b < l.grid[0]; ++b) {
      const std::int64_t* slots = l.pointer<std::int64_t>(0);
      l.pointer<std::int64_t>(2)[b] = slots[(l.scalar<std::uint32_t>(1) + b) * slot_bytes / 8 + 2];
    }
    return 0;
  });
  ptx = testing::fake_ptx({"fill", "first", "second", "judge", "compare"});
  options.batch.lanes = 1;
  open();
  Batch batch = sums(3, 1, 0);
  batch.result_bytes = {8, 8};
  batch.steps[2].shared_bytes = 1024;
  batch.steps.push_back(
      step(Over::twins, "compare", {at(Area::slot), at(Area::cases), at(Area::results, 1)}));
  open_batch(batch);
  const BatchOutcome outcome = outcome_of(9);
  EXPECT_THAT(results<std::int64_t>(outcome, 1),
              ElementsAre(0x58385838, -1, -1, 0x58385838, -1, -1, 0x58385838, -1, -1));
  EXPECT_THAT(results<std::int64_t>(outcome), ::testing::Each(0)); // left by first
  EXPECT_EQ(fake_counts().graphs, 3);

  batch.wave_cases = 1;
  batch.steps.erase(batch.steps.begin() +
                    1); // the first kernel: nothing stands between the dirt and the second
  open_batch(batch);
  const BatchOutcome alone = outcome_of(3);
  EXPECT_THAT(results<std::int64_t>(alone), ::testing::Each(0x7ff17ff1));
  EXPECT_THAT(results<std::int64_t>(alone, 1), ::testing::Each(0x58385838));
}

TEST_F(BatchTest, TimeIsToldStepByStep) {
  testing::fake_gpu().launch_seconds = 1e-3;
  open();
  open_batch(sums(4));
  const BatchOutcome outcome = outcome_of(10, true);
  expect_sums(outcome, 10);
  ASSERT_EQ(outcome.step_seconds.size(), 4);
  EXPECT_NEAR(outcome.step_seconds[0], 3e-3, 1e-5);
  EXPECT_NEAR(outcome.step_seconds[1], 20e-3, 1e-5); // of both kernels on trial
  EXPECT_EQ(outcome.step_seconds[2], 0);
  EXPECT_NEAR(outcome.step_seconds[3], 3e-3, 1e-5);
  EXPECT_TRUE(outcome_of(4).step_seconds.empty());
}

} // namespace
} // namespace assay
