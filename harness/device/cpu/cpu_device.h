// The CPU device: the very PTX that NVRTC made, run without a GPU and with every check on.
#pragma once

#include "harness/device/device.h"

#include <memory>
#include <string>

namespace assay {

// Never fails where this device was built; a Result because opening a device can. Machine code is kept beside
// the compiled sources (default_cache_dir()).
Result<std::unique_ptr<Device>> make_cpu_device();

// Loads programs and refuses them for what the CPU device refuses them for, but makes no machine code, which
// is most of the time. It cannot launch.
std::unique_ptr<Device> make_loading_device();

// As make_cpu_device, but with the checks for races and for reads of unwritten memory chosen; bounds are
// always checked.
Result<std::unique_ptr<Device>> make_cpu_device(bool check_races, bool check_undefined);

} // namespace assay
