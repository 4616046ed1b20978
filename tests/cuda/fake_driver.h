// CUDA's driver with C++ functions for kernels: device memory is host memory, a cubin is the PTX's text. What
// a kernel returns is the driver's status when the launch is waited for; any error stays, as a context's
// does. Kernels and settings are to be made before the device is opened: its process is a fork.
#pragma once

#include "harness/device/cuda/driver.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace assay::testing {

struct FakeGpuLaunch {
  std::array<unsigned, 3> grid{}, block{};
  unsigned shared_bytes = 0;
  int device = 0;                   // whose context is current
  std::uint32_t shared_word = 0;    // what shared memory holds
  int* variable = nullptr;          // the module's one variable
  std::uint8_t* counters = nullptr; // of its blocks, where it has them
  void** parameters = nullptr;

  template <class T> T scalar(std::size_t i) const {
    T value;
    std::memcpy(&value, parameters[i], sizeof value);
    return value;
  }
  template <class T> T* pointer(std::size_t i) const {
    return reinterpret_cast<T*>(scalar<std::uint64_t>(i));
  }
};

using FakeGpuKernel = std::function<cuda::Status(const FakeGpuLaunch&)>;

struct FakeGpu {
  std::vector<int> max_threads{1024}; // of every function
  int devices = 1;
  std::size_t memory = std::size_t{1} << 30; // bytes that can be allocated
  std::string refused_ptx;                   // a text that the compiler does not take
  bool dies_at_load = false;
  // What the fake's clock says that each takes.
  double launch_seconds = 0, bytes_per_second = 1e12; // a byte copied or filled
  std::string refused_in_graph;                       // a kernel that no graph takes
  std::string refused_launch;                         // a kernel that is not launched
};
FakeGpu& fake_gpu();

// Seen by the test and the device's process alike.
struct FakeCounts {
  std::atomic<int> starts, compiled, loaded, launched, graphs, instantiated,
      replaced;                       // replaced: launches of graphs
  std::atomic<std::size_t> allocated; // bytes, in the process that drives the fake
};
FakeCounts& fake_counts();

// Forgets kernels and settings, and counts from 0.
void reset_fake_gpu();
void add_fake_kernel(const std::string& name, std::vector<std::uint32_t> param_bytes, FakeGpuKernel kernel);
// PTX that names them as entries; `more` stands before them.
// The module's one variable, for `more`.
inline constexpr const char* fake_variable =
    ".visible .global .align 4 .u32 count;\n.func f()\n{\n\tst.global.u32 [count], %r1;\n}\n";
std::string fake_ptx(const std::vector<std::string>& names, const std::string& more = "");

const cuda::Driver& fake_driver();

} // namespace assay::testing
