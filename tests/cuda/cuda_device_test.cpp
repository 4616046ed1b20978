// The CUDA device over a driver of C++ functions: every kind of fault that a kernel can commit on a GPU, what
// is no fault, and that the next case does not suffer for it.
#include "harness/device/cuda/cuda_device.h"
#include "harness/device/whole_case.h"
#include "tests/cuda/fake_driver.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using testing::FakeGpuLaunch;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr cuda::Status illegal_address = 700, misaligned_address = 716, device_assert = 710,
                       launch_failed = 719, out_of_resources = 701;
constexpr std::int64_t n = 8;

class CudaDeviceTest : public ::testing::Test {
 protected:
  TemporaryFolder folder;

  void SetUp() override {
    testing::reset_fake_gpu();
    options.cache_dir = folder.path();
    options.watchdog = std::chrono::milliseconds(300);
    options.watchdog_again = std::chrono::milliseconds(100);
  }

  // k(x, y, s): x an input, y an output, s scratch, n floats each.
  void kernel(testing::FakeGpuKernel body, const std::string& more = "") {
    testing::add_fake_kernel("k", {8, 8, 8}, std::move(body));
    ptx = testing::fake_ptx({"k"}, more);
  }

  void open() {
    auto opened = make_cuda_device(testing::fake_driver(), options);
    ASSERT_TRUE(opened) << to_string(opened.error());
    device = *std::move(opened);
    auto loaded = device->load({ptx, "k.cu", {}});
    ASSERT_TRUE(loaded) << to_string(loaded.error());
    program = *std::move(loaded);
  }

  void new_case() {
    device->release_all();
    std::vector<float> values(n);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
    const auto buffer = [&](const char* name, BufferRole role) {
      BufferSpec spec;
      spec.name = name;
      spec.role = role;
      spec.shape = {n};
      spec.initialized = role == BufferRole::input;
      const auto id = device->allocate(spec, spec.initialized ? std::as_bytes(std::span(values))
                                                              : std::span<const std::byte>());
      EXPECT_TRUE(id);
      return id ? *id : BufferId{};
    };
    x = buffer("x", BufferRole::input);
    y = buffer("y", BufferRole::output);
    s = buffer("s", BufferRole::scratch);
  }

  Result<LaunchReport> launch() {
    LaunchSpec spec;
    spec.entry = "k";
    spec.block = {32};
    spec.args = {x, y, s};
    return device->launch(*program, spec);
  }

  // Twice the same launch.
  Result<bool> launch_whole() {
    LaunchSpec spec;
    spec.entry = "k";
    spec.block = {32};
    spec.args = {x, y, s};
    const std::vector<LaunchSpec> specs = {spec, spec};
    return dynamic_cast<WholeCase&>(*device).launch_whole(*program, specs);
  }

  // One case of this kernel: its faults.
  std::vector<Fault> faults_of_a_case() {
    new_case();
    const auto report = launch();
    EXPECT_TRUE(report) << to_string(report.error());
    return report ? report->faults : std::vector<Fault>();
  }

  std::vector<float> read(BufferId buffer) {
    std::vector<float> values(n);
    EXPECT_TRUE(device->read(buffer, std::as_writable_bytes(std::span(values))));
    return values;
  }

  void expect_fault(Kind kind, const std::string& buffer, const std::string& message) {
    const auto faults = faults_of_a_case();
    ASSERT_THAT(faults, SizeIs(1));
    EXPECT_EQ(faults[0].kind, kind) << faults[0].message;
    EXPECT_EQ(faults[0].buffer, buffer);
    EXPECT_THAT(faults[0].message, HasSubstr(message));
    EXPECT_FALSE(faults[0].note);
  }

  CudaOptions options;
  std::string ptx;
  std::unique_ptr<Device> device;
  std::shared_ptr<Program> program;
  BufferId x{}, y{}, s{};
};

void doubles(const FakeGpuLaunch& l) {
  for (std::int64_t i = 0; i < n; ++i) l.pointer<float>(1)[i] = 2 * l.pointer<float>(0)[i];
}

TEST_F(CudaDeviceTest, ARightKernelIsAccusedOfNothing) {
  kernel([](const FakeGpuLaunch& l) { return doubles(l), 0; });
  open();
  EXPECT_EQ(device->name(), "cuda:0 (Fake GPU, driver CUDA 13.0)");
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
  EXPECT_THAT(read(y), ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
  EXPECT_THAT(device->unwritten(y, 8), IsEmpty());
  EXPECT_EQ(testing::fake_counts().launched, 2); // once in each world
}

TEST_F(CudaDeviceTest, EntriesAreThoseOfThePtxWithTheDriversFigures) {
  kernel([](const FakeGpuLaunch&) { return 0; });
  open();
  ASSERT_THAT(program->entries(), SizeIs(1));
  EXPECT_EQ(program->entries()[0].name, "k");
  EXPECT_THAT(program->entries()[0].param_bytes, ElementsAre(8, 8, 8));
}

TEST_F(CudaDeviceTest, AWriteJustPastABuffer) {
  kernel([](const FakeGpuLaunch& l) { return doubles(l), l.pointer<float>(1)[n] = 1, 0; });
  open();
  expect_fault(Kind::out_of_bounds, "y", "4 bytes behind the end of y");
}

TEST_F(CudaDeviceTest, AChangedInput) {
  kernel([](const FakeGpuLaunch& l) { return doubles(l), l.pointer<float>(0)[3] = 0, 0; });
  open();
  expect_fault(Kind::input_modified, "x", "x[3]");
}

TEST_F(CudaDeviceTest, UnwrittenElements) {
  kernel([](const FakeGpuLaunch& l) {
    for (std::int64_t i = 0; i < n - 2; ++i) l.pointer<float>(1)[i] = 1;
    return 0;
  });
  open();
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
  EXPECT_THAT(device->unwritten(y, 8), ElementsAre(6, 7));
  EXPECT_THAT(device->unwritten(s, 1), ElementsAre(0));
}

TEST_F(CudaDeviceTest, ScratchThatNobodyWrote) {
  kernel(
      [](const FakeGpuLaunch& l) { return doubles(l), l.pointer<float>(1)[2] += l.pointer<float>(2)[5], 0; });
  open();
  expect_fault(Kind::uninitialized, "s", "y[2] depends on elements of s that nobody wrote");
}

TEST_F(CudaDeviceTest, ScratchThatTheHostClearedIsWritten) {
  kernel(
      [](const FakeGpuLaunch& l) { return doubles(l), l.pointer<float>(1)[2] += l.pointer<float>(2)[5], 0; });
  open();
  new_case();
  device->fill_zero(s);
  const auto report = launch();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->faults, IsEmpty());
  EXPECT_EQ(read(y)[2], 6);
}

TEST_F(CudaDeviceTest, UnwrittenMemoryThatIsOnlyCarriedAboutIsNoFault) {
  kernel(
      [](const FakeGpuLaunch& l) { return doubles(l), l.pointer<float>(2)[1] = l.pointer<float>(2)[0], 0; });
  open();
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
}

TEST_F(CudaDeviceTest, ReadsOfWhatLiesOutside) {
  kernel(
      [](const FakeGpuLaunch& l) { return doubles(l), l.pointer<float>(1)[0] += l.pointer<float>(0)[n], 0; });
  open();
  expect_fault(Kind::out_of_bounds, "x", "y[0] depends on what lies outside x");
}

TEST_F(CudaDeviceTest, SharedMemoryThatNobodyWrote) {
  kernel([](const FakeGpuLaunch& l) {
    doubles(l);
    float held;
    std::memcpy(&held, &l.shared_word, sizeof held);
    l.pointer<float>(1)[7] += held;
    return 0;
  });
  open();
  expect_fault(Kind::uninitialized, "shared", "y[7] depends on what shared memory held");
}

TEST_F(CudaDeviceTest, ResultsThatChangeFromRunToRunAreNotBlamedOnMemory) {
  auto* calls = static_cast<int*>(
      ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  kernel([calls](const FakeGpuLaunch& l) {
    doubles(l);
    l.pointer<float>(1)[0] = static_cast<float>(++*calls);
    return 0;
  });
  open();
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
  ::munmap(calls, sizeof(int));
}

struct FatalStatus {
  const char* name;
  cuda::Status status;
  bool traps;
  Kind kind;
};
class Fatal : public CudaDeviceTest, public ::testing::WithParamInterface<FatalStatus> {};

TEST_P(Fatal, EndsTheContextButNotTheNextCase) {
  auto* faulty = static_cast<bool*>(
      ::mmap(nullptr, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  *faulty = true;
  kernel([faulty](const FakeGpuLaunch& l) { return doubles(l), *faulty ? GetParam().status : 0; });
  if (GetParam().traps) ptx += ".func f()\n{\n\ttrap;\n}\n";
  open();
  expect_fault(GetParam().kind, "", "CUDA_ERROR");
  *faulty = false;
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
  EXPECT_THAT(read(y), ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
  EXPECT_EQ(testing::fake_counts().starts, 2); // a driver's process each
  ::munmap(faulty, sizeof(bool));
}

INSTANTIATE_TEST_SUITE_P(
    Statuses, Fatal,
    ::testing::Values(FatalStatus{"IllegalAddress", illegal_address, false, Kind::out_of_bounds},
                      FatalStatus{"Misaligned", misaligned_address, false, Kind::misaligned},
                      FatalStatus{"Assert", device_assert, false, Kind::trap},
                      FatalStatus{"Trap", launch_failed, true, Kind::trap},
                      FatalStatus{"Failure", launch_failed, false, Kind::out_of_bounds}),
    [](const auto& info) { return info.param.name; });

TEST_F(CudaDeviceTest, AnEndlessLoopIsEndedAndTheNextCaseRuns) {
  auto* faulty = static_cast<bool*>(
      ::mmap(nullptr, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  *faulty = true;
  kernel([faulty](const FakeGpuLaunch& l) {
    while (*faulty) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return doubles(l), 0;
  });
  open();
  const auto begin = std::chrono::steady_clock::now();
  expect_fault(Kind::timeout, "", "did not end within 0.3 s");
  expect_fault(Kind::timeout, "", "did not end within 0.1 s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  *faulty = false;
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
  ::munmap(faulty, sizeof(bool));
}

TEST_F(CudaDeviceTest, ALimitIsToldBeforeTheLaunch) {
  kernel([](const FakeGpuLaunch&) { return 0; });
  open();
  new_case();
  LaunchSpec spec;
  spec.entry = "k";
  spec.args = {x, y, s};
  spec.shared_bytes = 256 << 10;
  const auto report = device->launch(*program, spec);
  ASSERT_TRUE(report);
  ASSERT_THAT(report->faults, SizeIs(1));
  EXPECT_EQ(report->faults[0].kind, Kind::launch);
  EXPECT_EQ(testing::fake_counts().launched, 0);
}

TEST_F(CudaDeviceTest, ABlockThatItsRegistersDoNotAllow) {
  testing::fake_gpu().max_threads = {16};
  kernel([](const FakeGpuLaunch&) { return 0; });
  open();
  expect_fault(Kind::launch, "", "a block of 32 threads, but k is bounded to 16");
}

TEST_F(CudaDeviceTest, ALaunchThatTheDriverRefuses) {
  kernel([](const FakeGpuLaunch&) { return out_of_resources; });
  open();
  expect_fault(Kind::launch, "", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
}

TEST_F(CudaDeviceTest, NoRoomIsNoFaultOfTheKernels) {
  kernel([](const FakeGpuLaunch& l) { return doubles(l), 0; });
  testing::fake_gpu().memory = std::size_t{1} << 20; // one world's arena
  open();
  new_case();
  const auto report = launch();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::user);
  EXPECT_THAT(report.error().message, HasSubstr("the GPU has no room"));
}

TEST_F(CudaDeviceTest, TheDriversMemoryStaysFlatOverManyCases) {
  kernel([](const FakeGpuLaunch& l) { return doubles(l), 0; });
  testing::fake_gpu().memory = std::size_t{2} << 20; // both worlds' arenas and not a byte more
  open();
  for (int i = 0; i < 50; ++i) ASSERT_THAT(faults_of_a_case(), IsEmpty());
  EXPECT_EQ(testing::fake_counts().starts, 1);
  EXPECT_EQ(testing::fake_counts().loaded, 2); // one module a world
}

TEST_F(CudaDeviceTest, AProgramIsCompiledOnceAndThenFoundByItsContent) {
  kernel([](const FakeGpuLaunch& l) { return doubles(l), 0; });
  open();
  EXPECT_EQ(testing::fake_counts().compiled, 1);
  open();
  EXPECT_EQ(testing::fake_counts().compiled, 1);
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
  ptx += "\n";
  open();
  EXPECT_EQ(testing::fake_counts().compiled, 2);
}

TEST_F(CudaDeviceTest, VariablesOfAModuleStartAnewWithEveryCaseAndAreEachWorldsOwn) {
  kernel(
      [](const FakeGpuLaunch& l) {
        doubles(l);
        l.pointer<float>(1)[0] = static_cast<float>(++*l.variable);
        return 0;
      },
      ".visible .global .align 4 .u32 count;");
  open();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(faults_of_a_case(), IsEmpty());
    EXPECT_EQ(read(y)[0], 1);
    const auto again = launch();
    ASSERT_TRUE(again);
    EXPECT_THAT(again->faults, IsEmpty());
    EXPECT_EQ(read(y)[0], 2);
  }
}

TEST_F(CudaDeviceTest, AfterADifferenceTheLaunchesGoOnWhereTheyWere) {
  kernel([](const FakeGpuLaunch& l) {
    for (std::int64_t i = 0; i < n; ++i)
      l.pointer<float>(1)[i] = l.pointer<float>(2)[i]; // unwritten at first
    for (std::int64_t i = 0; i < n; ++i) l.pointer<float>(2)[i] = l.pointer<float>(0)[i];
    return 0;
  });
  open();
  expect_fault(Kind::uninitialized, "s", "y[0]");
  const auto again = launch();
  ASSERT_TRUE(again);
  EXPECT_THAT(again->faults, IsEmpty());
  EXPECT_THAT(read(y), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST_F(CudaDeviceTest, BlocksAreCountedBesideTheKernelFromTheFirstTimeThatSomeoneAsks) {
  kernel([](const FakeGpuLaunch& l) {
    doubles(l);
    if (l.counters != nullptr) l.counters[1] = 1;
    return 0;
  });
  testing::add_fake_kernel("other", {8, 8, 8}, [](const FakeGpuLaunch& l) { return doubles(l), 0; });
  ptx = testing::fake_ptx({"k", "other"}, ".address_size 64");
  open();
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
  EXPECT_EQ(testing::fake_counts().launched, 2);
  EXPECT_THAT(device->coverage().counters, IsEmpty());
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
  EXPECT_EQ(testing::fake_counts().launched, 5);
  EXPECT_THAT(device->coverage().counters, ElementsAre(0, 1));
  EXPECT_THAT(read(y), ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
  device->coverage().counters[1] = 0;
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
  EXPECT_THAT(device->coverage().counters, ElementsAre(0, 1));
}

TEST_F(CudaDeviceTest, ArenasGrowWithTheCasesWhileBlocksAreCounted) {
  kernel([](const FakeGpuLaunch& l) { return doubles(l), 0; });
  ptx = testing::fake_ptx({"k"}, ".address_size 64");
  open();
  device->coverage();
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
  new_case();
  BufferSpec large;
  large.name = "large";
  large.shape = {std::int64_t{1} << 20};
  ASSERT_TRUE(device->allocate(large, {}));
  const auto report = launch();
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_THAT(report->faults, IsEmpty());
  EXPECT_THAT(faults_of_a_case(), IsEmpty());
}

TEST_F(CudaDeviceTest, AWholeCaseIsOneRequestWhereNothingIsWrong) {
  kernel(
      [](const FakeGpuLaunch& l) {
        doubles(l);
        l.pointer<float>(1)[0] = static_cast<float>(++*l.variable);
        return 0;
      },
      ".visible .global .align 4 .u32 count;");
  open();
  for (int i = 0; i < 2; ++i) {
    new_case();
    const auto clean = launch_whole();
    ASSERT_TRUE(clean) << to_string(clean.error());
    EXPECT_TRUE(*clean);
    EXPECT_THAT(read(y), ElementsAre(2, 4, 6, 8, 10, 12, 14, 16)); // y[0]: the variable, after two launches
    EXPECT_THAT(device->unwritten(y, 8), IsEmpty());
  }
  EXPECT_EQ(testing::fake_counts().launched, 8);
}

TEST_F(CudaDeviceTest, AWholeCaseWithAFaultIsToldLaunchByLaunch) {
  kernel(
      [](const FakeGpuLaunch& l) { return doubles(l), l.pointer<float>(1)[2] += l.pointer<float>(2)[5], 0; });
  open();
  new_case();
  const auto clean = launch_whole();
  ASSERT_TRUE(clean);
  EXPECT_FALSE(*clean);
  const auto report = launch();
  ASSERT_TRUE(report);
  ASSERT_THAT(report->faults, SizeIs(1));
  EXPECT_EQ(report->faults[0].kind, Kind::uninitialized);
}

TEST_F(CudaDeviceTest, AWholeCaseThatEndsItsContextIsToldLaunchByLaunch) {
  kernel([](const FakeGpuLaunch&) { return misaligned_address; });
  open();
  new_case();
  const auto clean = launch_whole();
  ASSERT_TRUE(clean);
  EXPECT_FALSE(*clean);
  const auto report = launch();
  ASSERT_TRUE(report);
  ASSERT_THAT(report->faults, SizeIs(1));
  EXPECT_EQ(report->faults[0].kind, Kind::misaligned);
}

TEST_F(CudaDeviceTest, PtxThatTheDriverDoesNotTakeIsToldWithItsLine) {
  kernel([](const FakeGpuLaunch&) { return 0; });
  open();
  testing::fake_gpu().refused_ptx = "broken";
  auto opened = make_cuda_device(testing::fake_driver(), options);
  ASSERT_TRUE(opened);
  const auto loaded = (*opened)->load({"broken", "k.ptx", {}});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::user);
  EXPECT_EQ(loaded.error().place, (Place{"k.ptx", 7, 0}));
}

TEST_F(CudaDeviceTest, AGpuThatIsNotThere) {
  options.ordinal = 3;
  const auto opened = make_cuda_device(testing::fake_driver(), options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::environment);
  EXPECT_EQ(opened.error().message, "there is no GPU 3: this machine shows 1 of them");
}

TEST_F(CudaDeviceTest, ADriverThatEndsItsProcessIsTheEnvironmentsFault) {
  kernel([](const FakeGpuLaunch&) { return 0; });
  testing::fake_gpu().dies_at_load = true;
  auto opened = make_cuda_device(testing::fake_driver(), options);
  ASSERT_TRUE(opened);
  const auto loaded = (*opened)->load({ptx, "k.cu", {}});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::environment);
  EXPECT_THAT(loaded.error().message, HasSubstr("exit status 3"));
}

} // namespace
} // namespace assay
