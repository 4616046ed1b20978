// Batches on a real GPU. Skipped where there is none.
#include "harness/base/child_process.h"
#include "harness/compile/compile.h"
#include "harness/device/batch.h"
#include "harness/device/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <cstring>

namespace assay {
namespace {

using Area = BatchArgument::Area;
using Over = BatchStep::Over;
using ::testing::IsEmpty;

constexpr int rows = 3, cols = 257, count = rows * cols;
constexpr std::size_t slot_bytes = 8192, y_at = 4096; // in a slot: x, y

constexpr const char* kernels = R"(
typedef unsigned long long u64;
constexpr int rows = 3, cols = 257, count = rows * cols;
__device__ const float table[4] = {0.f, 1.f, 2.f, 3.f};
__device__ float element(u64 seed, int i) { return (float)((seed * 40503 + i * 9973) % 4096) / 256.f; }
extern "C" __global__ void fill(const u64* given, unsigned char* slots, u64 slot_bytes, unsigned cases) {
  float* x = (float*)(slots + blockIdx.x * slot_bytes);
  const u64 seed = given[blockIdx.x < cases ? blockIdx.x : blockIdx.x - cases];
  for (int i = threadIdx.x; i < count; i += blockDim.x) x[i] = element(seed, i), x[1024 + i] = -1;
}
extern "C" __global__ void softmax(const float* x, float* y) {
  __shared__ float held[256];
  const float* row = x + blockIdx.x * cols;
  float largest = -1e30f, sum = table[threadIdx.x % 4] * 0.f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) largest = fmaxf(largest, row[c]);
  held[threadIdx.x] = largest;
  __syncthreads();
  for (int i = 0; i < 256; ++i) largest = fmaxf(largest, held[i]);
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(row[c] - largest);
  held[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < 256; ++i) sum += held[i];
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = expf(row[c] - largest) / sum;
}
extern "C" __global__ void check(const unsigned char* slots, u64 slot_bytes, float* results) {
  const float* y = (const float*)(slots + blockIdx.x * slot_bytes + 4096);
  for (int i = threadIdx.x; i < count; i += blockDim.x) results[(u64)blockIdx.x * count + i] = y[i];
}
extern "C" __global__ void compare(const float* slots, u64 slot_bytes, unsigned cases, unsigned* differ) {
  const float* one = slots + blockIdx.x * (slot_bytes / 4) + 1024;
  const float* other = slots + (cases + blockIdx.x) * (slot_bytes / 4) + 1024;
  if (threadIdx.x != 0) return;
  differ[blockIdx.x] = 0;
  for (int i = 0; i < count; ++i) differ[blockIdx.x] += __float_as_uint(one[i]) != __float_as_uint(other[i]);
}
extern "C" __global__ void unwritten_shared(const float* x, float* y) {
  __shared__ float held[1024];
  if (x[0] < 0) held[threadIdx.x] = x[0];
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) y[i] = held[i];
}
extern "C" __global__ void wide(const float* x, float* y) {
  extern __shared__ float held[];
  for (int i = threadIdx.x; i < count; i += blockDim.x) held[50000 + i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) y[i] = held[50000 + i];
}
)";

constexpr const char* trapping = R"(
extern "C" __global__ void trapping(const float* x, float* y) {
  if (x[0] == 12.5f && threadIdx.x == 0) __trap();
  y[threadIdx.x] = x[0];
}
extern "C" __global__ void endless(const float* x, float* y) {
  if (x[0] == 12.5f) while (*(volatile const float*)x == 12.5f) {}
  y[threadIdx.x] = x[0];
}
)";

constexpr const char* counting = R"(
__device__ unsigned arrived;
extern "C" __global__ void counting(const float* x, float* y) { y[threadIdx.x] = x[0] + atomicAdd(&arrived, 1u); }
)";

class GpuBatch : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (cuda_device_count() == 0) return;
    auto opened = make_cuda_device(0);
    ASSERT_TRUE(opened) << to_string(opened.error());
    device = opened->release();
    for (std::size_t i = 0; i < programs.size(); ++i) {
      CompileRequest request;
      request.path = "batch.cu";
      request.text = std::array{kernels, trapping, counting}[i];
      request.names = {std::array{"softmax", "trapping", "counting"}[i]};
      const auto ptx = compile(request);
      ASSERT_TRUE(ptx) << to_string(ptx.error());
      const auto loaded = device->load(*ptx);
      ASSERT_TRUE(loaded) << to_string(loaded.error());
      programs[i] = *loaded;
    }
  }
  static void TearDownTestSuite() {
    programs = {};
    delete device;
    device = nullptr;
  }
  void SetUp() override {
    if (device == nullptr) GTEST_SKIP() << "no GPU on this machine";
  }

  static BatchArgument at(Area area, std::uint64_t bits = 0) { return {area, bits}; }
  static BatchStep step(Over over, const std::string& entry, std::vector<BatchArgument> args,
                        std::uint64_t grid = 1, std::size_t program = 0) {
    return {.over = over,
            .program = programs[program],
            .entry = entry,
            .grid = {grid},
            .block = {256},
            .args = std::move(args)};
  }

  static Batch batch_of(const std::string& entry, std::uint32_t wave_cases, std::uint32_t wave_twins,
                        std::uint64_t grid = 1, std::size_t program = 0, std::uint64_t slot = slot_bytes) {
    Batch batch;
    batch.given_bytes = 8;
    batch.slot_bytes = slot;
    batch.result_bytes = {count * 4, 4};
    batch.wave_cases = wave_cases;
    batch.wave_twins = wave_twins;
    batch.steps = {
        step(Over::slots, "fill", {at(Area::given), at(Area::slot), at(Area::value, slot), at(Area::cases)}),
        step(Over::each, entry, {at(Area::slot), at(Area::slot, y_at)}, grid, program),
        step(Over::cases, "check", {at(Area::slot), at(Area::value, slot), at(Area::results)}),
        step(Over::twins, "compare",
             {at(Area::slot), at(Area::value, slot), at(Area::cases), at(Area::results, 1)})};
    return batch;
  }

  static BatchDevice& batches() { return dynamic_cast<BatchDevice&>(*device); }
  static void open(const Batch& batch) {
    const auto opened = batches().open_batch(batch);
    ASSERT_TRUE(opened) << to_string(opened.error());
  }
  // Of cases with the seeds first, first + 1, ...
  static BatchOutcome outcome_of(std::size_t cases, std::uint64_t first = 0, bool timed = false) {
    std::vector<std::uint64_t> given(cases);
    for (std::size_t i = 0; i < cases; ++i) given[i] = first + i;
    const auto submitted = batches().submit(std::as_bytes(std::span(given)), cases, timed);
    EXPECT_TRUE(submitted) << to_string(submitted.error());
    if (!submitted) return {};
    auto outcome = batches().collect();
    EXPECT_TRUE(outcome) << to_string(outcome.error());
    return outcome ? *std::move(outcome) : BatchOutcome{};
  }
  template <class T> static std::vector<T> results(const BatchOutcome& outcome, std::size_t array) {
    EXPECT_TRUE(outcome.done) << outcome.why;
    if (!outcome.done) return {};
    std::vector<T> values(outcome.results[array].size() / sizeof(T));
    std::memcpy(values.data(), outcome.results[array].data(), outcome.results[array].size());
    return values;
  }

  static float element(std::uint64_t seed, std::uint64_t i) {
    return static_cast<float>((seed * 40503 + i * 9973) % 4096) / 256;
  }
  // The same case by itself.
  static std::vector<float> one_by_one(std::uint64_t seed) {
    device->release_all();
    std::vector<float> x(count), y(count);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = element(seed, i);
    std::vector<Argument> args;
    for (const bool input : {true, false}) {
      BufferSpec spec;
      spec.name = input ? "x" : "y";
      spec.role = input ? BufferRole::input : BufferRole::output;
      spec.shape = {rows, cols};
      spec.initialized = input;
      const auto id =
          device->allocate(spec, input ? std::as_bytes(std::span(x)) : std::span<const std::byte>());
      EXPECT_TRUE(id);
      if (!id) return {};
      args.emplace_back(*id);
    }
    LaunchSpec spec;
    spec.entry = "softmax";
    spec.grid = {rows};
    spec.block = {256};
    spec.args = args;
    const auto report = device->launch(*programs[0], spec);
    EXPECT_TRUE(report) << to_string(report.error());
    if (!report) return {};
    EXPECT_THAT(report->faults, IsEmpty());
    EXPECT_TRUE(device->read(std::get<BufferId>(args[1]), std::as_writable_bytes(std::span(y))));
    return y;
  }
  static void expect_softmax(const BatchOutcome& outcome, std::size_t cases, std::size_t every) {
    const auto all = results<float>(outcome, 0);
    ASSERT_EQ(all.size(), cases * count);
    for (std::size_t i = 0; i < cases; i += every)
      ASSERT_EQ(std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(i * count),
                                   all.begin() + static_cast<std::ptrdiff_t>((i + 1) * count)),
                one_by_one(i))
          << "case " << i;
  }

  static inline Device* device = nullptr;
  static inline std::array<std::shared_ptr<Program>, 3> programs;
};

TEST_F(GpuBatch, AThousandCasesAreWhatTheyAreOneByOne) {
  open(batch_of("softmax", 96, 6, rows)); // 10 waves of 96, most of them graphs, and one of 40
  const BatchOutcome outcome = outcome_of(1000);
  expect_softmax(outcome, 1000, 1);
  const auto differ = results<std::uint32_t>(outcome, 1);
  for (std::size_t i = 0; i < differ.size(); ++i) ASSERT_EQ(differ[i], i % 96 < 6 ? 0 : 0xffffffff) << i;
  const BatchOutcome again = outcome_of(1000);
  EXPECT_EQ(again.results, outcome.results);
}

TEST_F(GpuBatch, AGraphOfTheSameShapeTakesOtherLaunches) {
  for (const std::uint64_t slot : {slot_bytes, 3 * slot_bytes, 2 * slot_bytes}) {
    open(batch_of("softmax", 64, 4, rows, 0, slot));
    expect_softmax(outcome_of(1000), 1000, 17);
    Batch batch = batch_of("wide", 64, 4, 1, 0, slot); // another kernel, with other memory
    batch.steps[1].shared_bytes = 220 << 10;
    open(batch);
    const auto all = results<float>(outcome_of(1000), 0);
    ASSERT_EQ(all.size(), 1000 * count);
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], element(i / count, i % count));
  }
}

TEST_F(GpuBatch, TimeIsToldStepByStep) {
  open(batch_of("softmax", 512, 0, rows));
  const BatchOutcome outcome = outcome_of(2048, 0, true);
  expect_softmax(outcome, 2048, 97);
  ASSERT_EQ(outcome.step_seconds.size(), 4);
  fmt::print("of 2048 cases: fill {:.0f} us, softmax {:.0f} us, check {:.0f} us\n",
             1e6 * outcome.step_seconds[0], 1e6 * outcome.step_seconds[1], 1e6 * outcome.step_seconds[2]);
  for (const std::size_t i : {0, 1, 2}) EXPECT_GT(outcome.step_seconds[i], 0);
  EXPECT_LT(outcome.step_seconds[1], 1);
}

// The one of 4096 seeds by which x[0] is 12.5.
std::uint64_t faulty_seed() {
  std::uint64_t seed = 4096;
  while (seed * 40503 % 4096 != 12.5 * 256) ++seed;
  return seed;
}

TEST_F(GpuBatch, ATrapInOneCaseLosesTheBatchAndNothingElse) {
  for (const std::uint64_t place : {10, 300}) { // in the first wave, and in a graph
    open(batch_of("trapping", 64, 0, 1, 1));
    const BatchOutcome outcome = outcome_of(500, faulty_seed() - place);
    EXPECT_FALSE(outcome.done);
    fmt::print("trap: {}\n", outcome.why);
    open(batch_of("softmax", 64, 4, rows));
    expect_softmax(outcome_of(200), 200, 19);
  }
}

TEST_F(GpuBatch, AnEndlessLoopIsEnded) {
  open(batch_of("endless", 64, 0, 1, 1));
  const BatchOutcome outcome = outcome_of(100, faulty_seed());
  EXPECT_FALSE(outcome.done);
  fmt::print("endless: {}\n", outcome.why);
  open(batch_of("softmax", 64, 4, rows));
  expect_softmax(outcome_of(200), 200, 19);
}

TEST_F(GpuBatch, SharedMemoryThatNobodyWroteDiffersInATwin) {
  open(batch_of("unwritten_shared", 32, 8));
  const auto twins_that_differ = [](std::size_t cases) {
    const auto differ = results<std::uint32_t>(outcome_of(cases), 1);
    int seen = 0;
    for (std::size_t i = 0; i < differ.size(); ++i) seen += i % 32 < 8 && differ[i] > 0;
    return seen;
  };
  int seen = 0;
  for (int i = 0; i < 8; ++i) seen += twins_that_differ(32);
  const int beside_others = twins_that_differ(256);
  fmt::print("{} of 64 twins differ, {} where lanes run side by side\n", seen, beside_others);
  EXPECT_GE(seen, 56);
  EXPECT_GE(beside_others, 8);
}

TEST_F(GpuBatch, MoreSharedMemoryThanKernelsHaveByThemselves) {
  Batch batch = batch_of("wide", 32, 2);
  batch.steps[1].shared_bytes = 220 << 10;
  open(batch);
  const auto all = results<float>(outcome_of(100), 0);
  ASSERT_EQ(all.size(), 100 * count);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], element(i / count, i % count));
}

TEST_F(GpuBatch, ACounterOfTheModuleIsRefused) {
  const auto opened = batches().open_batch(batch_of("counting", 32, 0, 1, 2));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::user);
}

// Of the first GPU; -1: nvidia-smi does not say.
int used_mebibytes() {
  const auto ended =
      run_child("/usr/bin/env", {"nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"},
                "", std::chrono::seconds(30));
  int used = -1;
  if (ended && ended->exit == 0)
    std::from_chars(ended->out.data(), ended->out.data() + ended->out.size(), used);
  return used;
}

TEST_F(GpuBatch, MemoryStaysFlatOverBatchesOfAllSizes) {
  int before = 0;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const std::uint64_t slot = slot_bytes * (1 + (i + 7) * 53 % 64);
    const std::uint32_t wave = 1 + i * 37 % 512;
    open(batch_of("softmax", wave, wave / 16, rows, 0, slot));
    ASSERT_TRUE(outcome_of(std::size_t{4} * wave).done);
    if (i == 199) before = used_mebibytes();
  }
  const int after = used_mebibytes();
  fmt::print("{} MiB after 200 batches, {} MiB after 400\n", before, after);
  if (before < 0) GTEST_SKIP() << "nvidia-smi does not say how much memory is used";
  EXPECT_LE(after - before, 64);
}

} // namespace
} // namespace assay
