#include "fuzz/open_device.h"

#ifdef ASSAY_HAS_CPU_DEVICE
#include "harness/device/cpu/cpu_device.h"
#endif

#include <algorithm>

namespace assay {

Result<std::unique_ptr<Device>> open_device(const std::string& name) {
  if (name == "cpu") {
#ifdef ASSAY_HAS_CPU_DEVICE
    return make_cpu_device();
#else
    return environment_error({}, "this build of Assay has no CPU device (ASSAY_CPU_DEVICE is off)");
#endif
  }
  const bool numbered =
      name.starts_with("cuda:") && name.size() > 5 && name.size() <= 8 &&
      std::all_of(name.begin() + 5, name.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (name == "cuda" || numbered)
    return environment_error({}, "there is no device {}: this build of Assay drives no GPU", name);
  return user_error({}, "--device is cpu, cuda or cuda:N, not '{}'", name);
}

std::string default_device() { return "cpu"; }

} // namespace assay
