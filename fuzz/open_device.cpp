#include "fuzz/open_device.h"

#include "harness/base/parallel.h"
#include "harness/device/cuda/cuda_device.h"
#ifdef ASSAY_HAS_CPU_DEVICE
#include "harness/device/cpu/cpu_device.h"
#endif

#include <algorithm>
#include <charconv>

namespace assay {

namespace {

constexpr std::size_t prefix = 5;      // "cuda:"
constexpr std::size_t most_digits = 3; // of a GPU's number

} // namespace

Result<std::unique_ptr<Device>> open_device(const std::string& name, unsigned worker) {
  if (name == "cpu") {
#ifdef ASSAY_HAS_CPU_DEVICE
    return make_cpu_device();
#else
    return environment_error({}, "this build of Assay has no CPU device (ASSAY_CPU_DEVICE is off)");
#endif
  }
  const bool numbered =
      name.starts_with("cuda:") && name.size() > prefix && name.size() <= prefix + most_digits &&
      std::all_of(name.begin() + prefix, name.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (name != "cuda" && !numbered) return user_error({}, "--device is cpu, cuda or cuda:N, not '{}'", name);
  int ordinal = 0;
  if (numbered)
    std::from_chars(name.data() + prefix, name.data() + name.size(), ordinal);
  else if (worker > 0)
    ordinal = gpu_of_worker(worker, cuda_device_count());
  auto device = make_cuda_device(ordinal);
  if (!device) return environment_error({}, "there is no device {}: {}", name, to_string(device.error()));
  use_threads(threads_of_host(1));
  return device;
}

std::unique_ptr<Device> loading_device([[maybe_unused]] const std::string& name) {
#ifdef ASSAY_HAS_CPU_DEVICE
  if (name == "cpu") return make_loading_device();
#endif
  return nullptr;
}

Result<std::unique_ptr<Device>> open_loading_device(const std::string& name) {
  if (auto loading = loading_device(name)) return loading;
  return open_device(name);
}

std::string default_device() { return cuda_device_count() > 0 ? "cuda" : "cpu"; }

} // namespace assay
