// The CUDA device on a real GPU: one kernel for each thing that a kernel can do wrong there. Skipped where
// there is none.
#include "harness/compile/compile.h"
#include "harness/device/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t n = 1024;

constexpr const char* head = R"(
#include <assert.h>
extern __shared__ float dynamic[];
#define HEAD const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < 1024) y[i] = 2 * x[i];
#define PARAMETERS float *x, float *y, float *s, long long arg
)";

constexpr const char* plain_kernels = R"(
extern "C" __global__ void right(PARAMETERS) { HEAD }
extern "C" __global__ void just_past(PARAMETERS) { HEAD if (i == 0) y[1024] = 1; }
extern "C" __global__ void just_before(PARAMETERS) { HEAD if (i == 0) y[-1] = 1; }
extern "C" __global__ void far_past(PARAMETERS) { HEAD if (i == 0) y[arg] = 1; }
extern "C" __global__ void null_pointer(PARAMETERS) { HEAD if (i == 0) *(float*)arg = 1; }
extern "C" __global__ void misaligned(PARAMETERS) { HEAD if (i == 0) *(float*)((char*)y + 2) = 1; }
extern "C" __global__ void unwritten(PARAMETERS) { const int i = threadIdx.x; if (i > 0) for (int k = i; k < 1024; k += blockDim.x) y[k] = x[k]; }
extern "C" __global__ void input_modified(PARAMETERS) { HEAD if (i == 7) x[7] = -1; }
extern "C" __global__ void scratch_unwritten(PARAMETERS) { HEAD if (i == 3) y[3] += s[5]; }
extern "C" __global__ void reads_past(PARAMETERS) { HEAD if (i == 3) y[3] += x[1024]; }
extern "C" __global__ void shared_unwritten(PARAMETERS) {
  __shared__ float held[256];
  HEAD
  if (i < 4) held[i] = 1;
  __syncthreads();
  if (i == 3) y[3] += held[arg];
}
extern "C" __global__ void dynamic_unwritten(PARAMETERS) { HEAD if (i == 3) y[3] += dynamic[arg]; }
extern "C" __global__ void shared_far_past(PARAMETERS) { HEAD if (i == 3) dynamic[arg] = 1; }
extern "C" __global__ void endless(PARAMETERS) { HEAD if (i == 0) while (*(volatile float*)x == x[0]) {} }
extern "C" __global__ void divergent_barrier(PARAMETERS) { HEAD if (threadIdx.x < 64) __syncthreads(); }
extern "C" __global__ void __launch_bounds__(1024, 1) wide(PARAMETERS) { HEAD }
extern "C" __global__ void races(PARAMETERS) { HEAD if (threadIdx.x == 0) { atomicAdd(&s[0], 0.f); y[0] = clock64(); } }
)";

// Programs of their own: these have variables, or a heap, which start anew with every case, or traps, by
// which the driver's word of a failed launch is understood.
constexpr const char* heap_kernels = R"(
extern "C" __global__ void exhausts_heap(PARAMETERS) {
  HEAD
  if (i == 0) { for (int k = 0; k < 4096; ++k) { float* p = (float*)malloc(1 << 20); p[0] = 1; y[0] += p[0]; } }
}
)";
constexpr const char* trap_kernels = R"(
extern "C" __global__ void trapped(PARAMETERS) { HEAD if (i == 9) __trap(); }
extern "C" __global__ void asserted(PARAMETERS) { HEAD assert(i != 9); }
)";
constexpr const char* variable_kernels = R"(
__device__ int launches;
extern "C" __global__ void counts(PARAMETERS) { HEAD if (i == 0) y[0] = ++launches; }
)";

struct Outcome {
  std::vector<Fault> faults;
  std::vector<float> y;
  std::vector<std::int64_t> unwritten;
};

class GpuTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (cuda_device_count() == 0) return;
    auto opened = make_cuda_device(0);
    ASSERT_TRUE(opened) << to_string(opened.error());
    device = opened->release();
    for (const auto& [kernels, name] :
         {std::pair(plain_kernels, "right"), std::pair(heap_kernels, "exhausts_heap"),
          std::pair(variable_kernels, "counts"), std::pair(trap_kernels, "trapped")}) {
      CompileRequest request;
      request.path = "faults.cu";
      request.text = std::string(head) + kernels;
      request.names = {name};
      const auto ptx = compile(request);
      ASSERT_TRUE(ptx) << to_string(ptx.error());
      const auto loaded = device->load(*ptx);
      ASSERT_TRUE(loaded) << to_string(loaded.error());
      programs.push_back(*loaded);
    }
  }
  static Program& program_of(const std::string& entry) {
    if (entry == "trapped" || entry == "asserted") return *programs[3];
    return *programs[entry == "exhausts_heap" ? 1 : entry == "counts" ? 2 : 0];
  }
  static void TearDownTestSuite() {
    programs.clear();
    delete device;
    device = nullptr;
  }
  void SetUp() override {
    if (device == nullptr) GTEST_SKIP() << "no GPU on this machine";
  }

  static Outcome run(const std::string& entry, std::uint64_t arg = 0, std::uint64_t shared = 0,
                     std::uint64_t block = 256) {
    Outcome outcome;
    device->release_all();
    std::vector<float> values(n);
    std::iota(values.begin(), values.end(), 1.0f);
    std::vector<Argument> args;
    for (const auto& [name, role] : {std::pair("x", BufferRole::input), std::pair("y", BufferRole::output),
                                     std::pair("s", BufferRole::scratch)}) {
      BufferSpec spec;
      spec.name = name;
      spec.role = role;
      spec.shape = {n};
      spec.initialized = role == BufferRole::input;
      const auto id = device->allocate(spec, spec.initialized ? std::as_bytes(std::span(values))
                                                              : std::span<const std::byte>());
      EXPECT_TRUE(id);
      if (!id) return outcome;
      args.emplace_back(*id);
    }
    args.emplace_back(Scalar{arg, 8});
    LaunchSpec spec;
    spec.entry = entry;
    spec.grid = {4};
    spec.block = {block};
    spec.shared_bytes = shared;
    spec.args = args;
    const auto report = device->launch(program_of(entry), spec);
    EXPECT_TRUE(report) << to_string(report.error());
    if (!report) return outcome;
    outcome.faults = report->faults;
    outcome.y.resize(n);
    EXPECT_TRUE(device->read(std::get<BufferId>(args[1]), std::as_writable_bytes(std::span(outcome.y))));
    outcome.unwritten = device->unwritten(std::get<BufferId>(args[1]), 4);
    return outcome;
  }

  // The fault, and that the case after it is not blamed.
  static void expect(const std::string& entry, Kind kind, const std::string& buffer, std::uint64_t arg = 0,
                     std::uint64_t shared = 0, std::uint64_t block = 256) {
    const Outcome outcome = run(entry, arg, shared, block);
    ASSERT_THAT(outcome.faults, SizeIs(1));
    fmt::print("{}: {} {}: {}\n", entry, name_of(outcome.faults[0].kind), outcome.faults[0].buffer,
               outcome.faults[0].message);
    EXPECT_EQ(outcome.faults[0].kind, kind);
    EXPECT_EQ(outcome.faults[0].buffer, buffer);
    const Outcome next = run("right");
    EXPECT_THAT(next.faults, IsEmpty());
    ASSERT_THAT(next.y, SizeIs(n));
    EXPECT_EQ(next.y[n - 1], 2 * n);
    EXPECT_THAT(next.unwritten, IsEmpty());
  }

  static inline Device* device = nullptr;
  static inline std::vector<std::shared_ptr<Program>> programs;
};

TEST_F(GpuTest, ARightKernel) {
  const Outcome outcome = run("right");
  EXPECT_THAT(outcome.faults, IsEmpty());
  EXPECT_EQ(outcome.y[10], 22);
}
TEST_F(GpuTest, JustPast) { expect("just_past", Kind::out_of_bounds, "y"); }
TEST_F(GpuTest, JustBefore) { expect("just_before", Kind::out_of_bounds, "y"); }
TEST_F(GpuTest, FarPast) { expect("far_past", Kind::out_of_bounds, "", std::uint64_t{1} << 40); }
TEST_F(GpuTest, NullPointer) { expect("null_pointer", Kind::out_of_bounds, ""); }
TEST_F(GpuTest, Misaligned) { expect("misaligned", Kind::misaligned, ""); }
TEST_F(GpuTest, Unwritten) {
  const Outcome outcome = run("unwritten");
  EXPECT_THAT(outcome.faults, IsEmpty());
  EXPECT_THAT(outcome.unwritten, ElementsAre(0, 256, 512, 768));
}
TEST_F(GpuTest, InputModified) { expect("input_modified", Kind::input_modified, "x"); }
TEST_F(GpuTest, ScratchUnwritten) { expect("scratch_unwritten", Kind::uninitialized, "s"); }
TEST_F(GpuTest, ReadsPast) { expect("reads_past", Kind::out_of_bounds, "x"); }
TEST_F(GpuTest, SharedUnwritten) { expect("shared_unwritten", Kind::uninitialized, "shared", 200); }
TEST_F(GpuTest, DynamicSharedUnwritten) {
  expect("dynamic_unwritten", Kind::uninitialized, "shared", 50000, 220 << 10);
}
TEST_F(GpuTest, SharedFarPast) { expect("shared_far_past", Kind::out_of_bounds, "", 1 << 20, 1024); }
TEST_F(GpuTest, Trap) { expect("trapped", Kind::trap, ""); }
TEST_F(GpuTest, Assert) { expect("asserted", Kind::trap, ""); }
TEST_F(GpuTest, EndlessLoop) { expect("endless", Kind::timeout, ""); }
TEST_F(GpuTest, TooMuchSharedMemory) { expect("right", Kind::launch, "", 0, 228 << 10); }
TEST_F(GpuTest, TooLargeABlock) { expect("right", Kind::launch, "", 0, 0, 2048); }
TEST_F(GpuTest, DeviceHeapExhausted) { expect("exhausts_heap", Kind::out_of_bounds, ""); }
TEST_F(GpuTest, TooManyBytes) {
  device->release_all();
  BufferSpec spec;
  spec.name = "x";
  spec.shape = {std::int64_t{1} << 40};
  const auto id = device->allocate(spec, {});
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().kind, ErrorKind::user);
}
TEST_F(GpuTest, VariablesStartAnew) {
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = run("counts");
    EXPECT_THAT(outcome.faults, IsEmpty());
    EXPECT_EQ(outcome.y[0], 1);
  }
}
TEST_F(GpuTest, ResultsThatChangeByThemselvesAreNotBlamedOnMemory) {
  EXPECT_THAT(run("races").faults, IsEmpty());
}
TEST_F(GpuTest, ABarrierThatNotAllReachEndsOneWayOrAnother) {
  const Outcome outcome = run("divergent_barrier");
  for (const Fault& fault : outcome.faults)
    fmt::print("divergent_barrier: {}: {}\n", name_of(fault.kind), fault.message);
  EXPECT_THAT(run("right").faults, IsEmpty());
}
TEST_F(GpuTest, MemoryStaysFlatAndModulesAreKept) {
  for (int i = 0; i < 2000; ++i) ASSERT_THAT(run("right").faults, IsEmpty());
}

} // namespace
} // namespace assay
