// The CUDA device over a driver of C++ functions: programs and their modules over many cases, whole cases,
// counters, and what can go wrong before a kernel runs.
#include "harness/compile/cubin_cache.h"
#include "tests/cuda/cuda_device_fixture.h"

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

constexpr cuda::Status misaligned_address = 716;

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
      testing::fake_variable);
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
      testing::fake_variable);
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

TEST_F(CudaDeviceTest, WorkersShareTheGpusOut) {
  kernel([](const FakeGpuLaunch& l) {
    doubles(l);
    l.pointer<float>(1)[0] = static_cast<float>(l.device);
    return 0;
  });
  testing::fake_gpu().devices = 2;
  std::vector<std::unique_ptr<Device>> held; // all at once, as workers are
  for (unsigned worker = 0; worker < 4; ++worker) {
    options.ordinal = gpu_of_worker(worker, 2);
    open();
    EXPECT_THAT(device->name(), HasSubstr(worker % 2 == 0 ? "cuda:0 " : "cuda:1 "));
    EXPECT_THAT(faults_of_a_case(), IsEmpty());
    EXPECT_EQ(read(y)[0], static_cast<float>(worker % 2));
    program.reset();
    held.push_back(std::move(device));
  }
  EXPECT_EQ(testing::fake_counts().starts, 4);
  EXPECT_EQ(testing::fake_counts().compiled, 1); // alike GPUs share the cache
  EXPECT_EQ(gpu_of_worker(3, 1), 0);
  EXPECT_EQ(gpu_of_worker(5, 4), 1);
}

TEST_F(CudaDeviceTest, MachineCodeThatIsThereAlreadyIsNotMadeByTheDriver) {
  kernel([](const FakeGpuLaunch& l) { return doubles(l), 0; });
  cubin_cache(folder.path()).store(cubin_key(ptx, "sm_90", 0), ptx + std::string(1, '\0'));
  open();
  EXPECT_EQ(testing::fake_counts().compiled, 0);
  cubin_cache(folder.path()).store(cubin_key(ptx, "sm_90", 0), "rubbish"); // is made anew
  device.reset();
  open();
  EXPECT_EQ(testing::fake_counts().compiled, 1);
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
