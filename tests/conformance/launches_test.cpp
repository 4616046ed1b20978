// The recorded launches of whole kernels on the CPU device, and on a GPU where there is one. Kernels of exact
// instructions give the same bits. Where PTX's approximate functions, or atomics whose order is open, take
// part, an element may differ by the bound that `bound_of_kernel` states.
#include "harness/device/cpu/cpu_device.h"
#include "harness/device/cuda/cuda_device.h"
#include "tests/conformance/launches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>

namespace assay::conformance {
namespace {

bool is_exact(const std::string& ptx) {
  for (const char* inexact :
       {".approx", "div.full", "atom.global.add.f", "red.global.add.f", "red.global.add.noftz"})
    if (ptx.find(inexact) != std::string::npos) return false;
  return true;
}

// How far an element may be from the GPU's: 10 units of 2^-24 of the largest magnitude of its tensor, then
// one rounding to the output's own type (one neighbour). An exponential and a quotient are off by up to 2 ulp
// each on the GPU and by half an ulp each here, which makes 5 ulp or 10 units; sums weigh them by at most 1.
double bound_of_kernel(DType type, double magnitude, double largest) {
  const double arithmetic = 10 * std::ldexp(1.0, -24) * largest;
  if (type == DType::f16) return arithmetic + std::max(std::ldexp(magnitude, -10), std::ldexp(1.0, -24));
  if (type == DType::bf16) return arithmetic + std::max(std::ldexp(magnitude, -7), std::ldexp(1.0, -133));
  return arithmetic;
}

double value_at(DType type, const std::byte* at) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, size_of(type));
  switch (type) {
  case DType::f64:
    return std::bit_cast<double>(bits);
  case DType::f32:
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  case DType::f16:
    return static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
  case DType::bf16:
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16)));
  default:
    return static_cast<double>(bits);
  }
}

struct Seen {
  std::size_t elements = 0, different = 0, beyond = 0;
  double largest = 0; // difference, as a share of its bound
};

void compare(const RecordedBuffer& buffer, std::span<const std::byte> got, bool exact, Seen& seen,
             std::string& first) {
  const std::size_t element = size_of(buffer.dtype);
  double largest = 0;
  for (std::size_t at = 0; at < got.size(); at += element)
    if (const double v = std::fabs(value_at(buffer.dtype, &buffer.after[at])); std::isfinite(v))
      largest = std::max(largest, v);
  for (std::size_t at = 0; at < got.size(); at += element) {
    ++seen.elements;
    if (std::memcmp(&got[at], &buffer.after[at], element) == 0) continue;
    ++seen.different;
    const double a = value_at(buffer.dtype, &got[at]), b = value_at(buffer.dtype, &buffer.after[at]);
    const bool may_differ = !exact && is_float(buffer.dtype) && std::isfinite(a) && std::isfinite(b);
    const double share =
        may_differ ? std::fabs(a - b) / bound_of_kernel(buffer.dtype, std::fabs(b), largest) : INFINITY;
    seen.largest = std::max(seen.largest, share);
    if (share <= 1) continue;
    if (seen.beyond++ == 0)
      first = fmt::format("{}[{}]: {:.9g}, the GPU gave {:.9g} (largest {:.9g})", buffer.name, at / element,
                          a, b, largest);
  }
}

// What a case leaves in its outputs on a Device.
Result<std::vector<std::vector<std::byte>>> run_on_device(Device& device, const LaunchFile& file,
                                                          const LaunchCase& one) {
  ASSAY_TRY(const auto program, device.load({file.ptx, file.ptx_file, {}}));
  device.release_all();
  std::vector<BufferId> buffers;
  for (const RecordedBuffer& buffer : one.buffers) {
    BufferSpec spec;
    spec.name = buffer.name;
    spec.role = buffer.role;
    spec.dtype = buffer.dtype;
    spec.shape = {buffer.count};
    spec.initialized = buffer.initialized;
    ASSAY_TRY(const BufferId id, device.allocate(spec, buffer.before));
    buffers.push_back(id);
  }
  for (const RecordedLaunch& launch : one.launches) {
    LaunchSpec spec;
    spec.entry = launch.entry;
    spec.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
    spec.block = {launch.block[0], launch.block[1], launch.block[2]};
    spec.shared_bytes = launch.shared_bytes;
    for (const auto& arg : launch.args)
      spec.args.push_back(arg.buffer >= 0 ? Argument(buffers[static_cast<std::size_t>(arg.buffer)])
                                          : Argument(arg.number));
    ASSAY_TRY(const LaunchReport report, device.launch(*program, spec));
    for (const Fault& fault : report.faults)
      if (!fault.note) return internal_error("{}", fault.message);
  }
  std::vector<std::vector<std::byte>> results(one.buffers.size());
  for (std::size_t k = 0; k < one.buffers.size(); ++k) {
    if (one.buffers[k].role != BufferRole::output) continue;
    results[k].resize(one.buffers[k].after.size());
    ASSAY_TRY_VOID(device.read(buffers[k], results[k]));
  }
  return results;
}

template <class Run> // Result<results by buffer>(file, case)
void check(const LaunchFile& file, Run&& run) {
  const bool exact = is_exact(file.ptx);
  Seen seen;
  for (const LaunchCase& one : file.cases) {
    SCOPED_TRACE(one.name);
    const auto results = run(file, one);
    ASSERT_TRUE(results) << to_string(results.error());
    std::string first;
    const std::size_t before = seen.beyond;
    for (std::size_t k = 0; k < one.buffers.size(); ++k) {
      if (one.buffers[k].role != BufferRole::output) continue;
      ASSERT_EQ((*results)[k].size(), one.buffers[k].after.size());
      ASSERT_FALSE(one.buffers[k].after.empty() && one.buffers[k].count > 0) << "nothing was recorded";
      compare(one.buffers[k], (*results)[k], exact, seen, first);
    }
    EXPECT_EQ(seen.beyond - before, 0u) << first;
  }
  EXPECT_GT(seen.elements, 0u);
  fmt::print("{:44} {} {:6} elements, {:4} other bits, at most {:.2g} of the bound\n",
             std::filesystem::path(file.path).stem().string(), exact ? "exact      " : "approximate",
             seen.elements, seen.different, seen.largest);
}

class Launches : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto read = read_launch_file("tests/conformance/launches/" + GetParam() + ".json");
    ASSERT_TRUE(read) << to_string(read.error());
    file = *std::move(read);
    ASSERT_FALSE(file.cases.empty());
  }
  LaunchFile file;
};

TEST_P(Launches, AgreeOnTheCpuDevice) {
  const auto device = make_cpu_device();
  ASSERT_TRUE(device) << to_string(device.error());
  check(file, [&](const LaunchFile& f, const LaunchCase& one) { return run_on_device(**device, f, one); });
}

TEST_P(Launches, AgreeOnTheCudaDevice) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto device = make_cuda_device(0);
  ASSERT_TRUE(device) << to_string(device.error());
  check(file, [&](const LaunchFile& f, const LaunchCase& one) { return run_on_device(**device, f, one); });
}

TEST_P(Launches, AgreeOnTheGpu) {
  const auto gpu = Gpu::open();
  if (!gpu) GTEST_SKIP() << gpu.error().message;
  const auto loaded = (*gpu)->load(file.ptx);
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  check(file, [&](const LaunchFile&, LaunchCase one) -> Result<std::vector<std::vector<std::byte>>> {
    ASSAY_TRY_VOID(record_on_gpu(**gpu, one));
    std::vector<std::vector<std::byte>> results;
    for (RecordedBuffer& buffer : one.buffers) results.push_back(std::move(buffer.after));
    return results;
  });
}

std::vector<std::string> kernels() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator("tests/conformance/launches"))
    if (file.path().extension() == ".json") names.push_back(file.path().stem().string());
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Launches, ::testing::ValuesIn(kernels()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '.', '_');
  return name;
});

} // namespace
} // namespace assay::conformance
