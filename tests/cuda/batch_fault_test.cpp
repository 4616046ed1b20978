// Batches over the fake driver that cannot run, or do not end well, and that the next one does not suffer.
#include "tests/cuda/batch_fixture.h"

#include <bit>
#include <sys/mman.h>
#include <thread>

namespace assay {
namespace {

using testing::Area;
using testing::BatchTest;
using testing::doubles;
using testing::fake_counts;
using testing::FakeGpuLaunch;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Over;

constexpr cuda::Status illegal_address = 700;
constexpr std::size_t mebi = std::size_t{1} << 20;

class BatchFault : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    faulty = static_cast<bool*>(
        ::mmap(nullptr, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    *faulty = true;
  }
  void TearDown() override { ::munmap(faulty, sizeof(bool)); }

  std::string refusal(const Batch& batch) {
    const auto opened = batches().open_batch(batch);
    EXPECT_FALSE(opened);
    if (opened) return {};
    EXPECT_EQ(opened.error().kind, ErrorKind::user);
    return opened.error().message;
  }

  bool* faulty = nullptr;
};

TEST_F(BatchFault, AFaultInTheMiddleLosesTheBatchAndNothingElse) {
  testing::add_fake_kernel("second", {8, 8}, [this](const FakeGpuLaunch& l) -> cuda::Status {
    *l.pointer<std::int64_t>(1) = *l.pointer<std::int64_t>(0) * 2;
    return *faulty && *l.pointer<std::int64_t>(0) == 8 ? illegal_address : 0;
  });
  open();
  open_batch(sums(4, 1));
  const BatchOutcome outcome = outcome_of(21);
  EXPECT_FALSE(outcome.done);
  EXPECT_THAT(outcome.why, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_THAT(outcome.results, IsEmpty());
  *faulty = false;
  expect_sums(outcome_of(21), 21); // in a new process, without another open_batch()
  EXPECT_EQ(fake_counts().starts, 2);
}

TEST_F(BatchFault, AFaultInAGraph) {
  testing::add_fake_kernel("second", {8, 8}, [this](const FakeGpuLaunch& l) -> cuda::Status {
    *l.pointer<std::int64_t>(1) = *l.pointer<std::int64_t>(0) * 2;
    return *faulty && *l.pointer<std::int64_t>(0) == 20 ? illegal_address : 0;
  });
  open();
  open_batch(sums(4));
  EXPECT_FALSE(outcome_of(40).done);
  EXPECT_GT(fake_counts().graphs, 0);
  *faulty = false;
  expect_sums(outcome_of(40), 40);
}

TEST_F(BatchFault, AHangIsEnded) {
  testing::add_fake_kernel("first", {8, 8}, [this](const FakeGpuLaunch& l) {
    while (*faulty) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return *l.pointer<std::int64_t>(1) = *l.pointer<std::int64_t>(0) + 1, 0;
  });
  open();
  open_batch(sums(4));
  EXPECT_EQ(outcome_of(5).why, "5 cases did not end within 0.35 s");
  EXPECT_EQ(outcome_of(5).why, "5 cases did not end within 0.15 s");
  *faulty = false;
  expect_sums(outcome_of(5), 5);
}

TEST_F(BatchFault, ALaunchThatTheDriverRefusesLeavesTheProcessAsItIs) {
  testing::fake_gpu().refused_launch = "judge";
  open();
  open_batch(sums(4));
  const BatchOutcome outcome = outcome_of(6);
  EXPECT_FALSE(outcome.done);
  EXPECT_THAT(outcome.why, HasSubstr("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"));
  EXPECT_FALSE(outcome_of(6).done);
  EXPECT_EQ(fake_counts().starts, 1);
}

TEST_F(BatchFault, ADriverThatEndsItsProcess) {
  testing::add_fake_kernel("first", {8, 8}, [this](const FakeGpuLaunch& l) {
    if (*faulty) std::_Exit(3);
    return *l.pointer<std::int64_t>(1) = *l.pointer<std::int64_t>(0) + 1, 0;
  });
  open();
  open_batch(sums(4));
  EXPECT_THAT(outcome_of(5).why, HasSubstr("exit status 3"));
  *faulty = false;
  expect_sums(outcome_of(5), 5);
}

TEST_F(BatchFault, CasesOneByOneAndBatchesTakeTurns) {
  testing::add_fake_kernel("k", {8, 8, 8}, [](const FakeGpuLaunch& l) { return doubles(l), 0; });
  ptx = testing::fake_ptx({"fill", "first", "second", "judge", "k"});
  open();
  open_batch(sums(4));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(faults_of_a_case(), IsEmpty());
    expect_sums(outcome_of(9), 9);
    EXPECT_EQ(read(y)[3], 8);
  }
}

TEST_F(BatchFault, VariablesThatMayBeWrittenAndTheHeapAreRefused) {
  const std::string plain = ptx;
  ptx = plain + testing::fake_variable;
  open();
  EXPECT_EQ(refusal(sums(4)), "fill may write a variable of its module: cases cannot run side by side");
  ptx = plain + ".extern .func (.param .b64 r) malloc\n(\n.param .b64 a\n)\n;\n";
  open();
  EXPECT_EQ(refusal(sums(4)), "fill may allocate memory: cases cannot run side by side");
}

TEST_F(BatchFault, TablesAreNoHindrance) {
  testing::add_fake_kernel("k", {8, 8, 8}, [](const FakeGpuLaunch& l) { return doubles(l), 0; });
  ptx =
      testing::fake_ptx({"fill", "first", "second", "judge", "k"}, ".global .align 1 .b8 table[2] = {1, 2};");
  open();
  open_batch(sums(4));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(faults_of_a_case(), IsEmpty());
    expect_sums(outcome_of(18), 18);
  }
  EXPECT_EQ(fake_counts().loaded, 2); // in each world once
}

TEST_F(BatchFault, LimitsAreToldWhenABatchIsOpened) {
  open();
  Batch batch = sums(4);
  batch.steps[1].block = {2048, 1, 1};
  EXPECT_THAT(refusal(batch), HasSubstr("first: block dimension x is 2048"));
  batch = sums(4);
  batch.steps[1].args.pop_back();
  EXPECT_THAT(refusal(batch), HasSubstr("first takes 2 parameters, the launch gives 1"));
  batch = sums(4);
  batch.steps[0].args[3] = {Area::value, 4, 8};
  EXPECT_THAT(refusal(batch), HasSubstr("parameter 3 of fill has 4 bytes, the launch gives 8"));
  batch = sums(1024);
  batch.steps[3].grid.x = 1 << 21; // times 1024
  EXPECT_THAT(refusal(batch), HasSubstr("judge: grid dimension x is 2147483648"));
  batch = sums(4);
  batch.steps[3].entry = "nobody";
  EXPECT_THAT(refusal(batch), HasSubstr("the PTX has no entry 'nobody'"));
}

TEST_F(BatchFault, AWaveThatIsTooLarge) {
  testing::fake_gpu().memory = 16 * mebi;
  open();
  Batch batch = sums(4);
  batch.slot_bytes = 10 * mebi;
  EXPECT_EQ(refusal(batch), "the GPU has no room for a wave of 4 cases (40 MiB)");
  batch.slot_bytes = 4096 * mebi;
  EXPECT_THAT(refusal(batch), HasSubstr("a wave of 4 cases needs 16384 MiB of the GPU (at most 13312 MiB)"));
  batch.slot_bytes = std::size_t{1} << 63;
  EXPECT_THAT(refusal(batch), HasSubstr("at most 13312 MiB"));
  batch.slot_bytes = 3 * mebi; // for one lane, not for two
  batch.steps[0].args[2].bits = 3 * mebi;
  batch.steps.pop_back();
  open_batch(batch);
  EXPECT_TRUE(outcome_of(9).done);
  batch = sums(4); // there is room again for what is smaller
  open_batch(batch);
  expect_sums(outcome_of(9), 9);
}

TEST_F(BatchFault, MoreAtOnceThanPassesThrough) {
  open();
  Batch batch = sums(4);
  batch.result_bytes = {64 * mebi};
  open_batch(batch);
  const std::vector<std::int64_t> given(5);
  const auto submitted = batches().submit(std::as_bytes(std::span(given)), 5, false);
  ASSERT_FALSE(submitted);
  EXPECT_EQ(submitted.error().kind, ErrorKind::user);
  EXPECT_THAT(submitted.error().message, HasSubstr("5 cases at once need 320 MiB"));
  open_batch(sums(4));
  expect_sums(outcome_of(5), 5);
}

TEST_F(BatchFault, MemoryStaysFlatOverBatchesOfAllSizes) {
  testing::fake_gpu().memory = 96 * mebi;
  open();
  std::size_t after_first = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    Batch batch = sums(1 + i * 37 % 64);
    batch.slot_bytes = testing::slot_bytes * (1 + (i + 7) * 53 % 64);
    batch.steps[0].args[2].bits = batch.slot_bytes;
    batch.steps.pop_back();
    open_batch(batch);
    EXPECT_TRUE(outcome_of(3).done);
    if (i == 99) after_first = fake_counts().allocated;
  }
  EXPECT_EQ(fake_counts().allocated, after_first);
  EXPECT_LE(fake_counts().allocated, 4 * mebi);
  EXPECT_TRUE(std::has_single_bit(fake_counts().allocated.load())); // one piece
}

} // namespace
} // namespace assay
