// The CUDA device over a driver of C++ functions: every kind of fault that a kernel can commit on a GPU, what
// is no fault, and that the next case does not suffer for it.
#include "tests/cuda/cuda_device_fixture.h"

#include <sys/mman.h>
#include <thread>

namespace assay {
namespace {

using testing::CudaDeviceTest;
using testing::doubles;
using ::testing::ElementsAre;
using testing::FakeGpuLaunch;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::n;
using ::testing::SizeIs;

constexpr cuda::Status illegal_address = 700, misaligned_address = 716, device_assert = 710,
                       launch_failed = 719, out_of_resources = 701;
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

} // namespace
} // namespace assay
