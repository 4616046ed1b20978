// The CPU device: the very PTX that NVRTC made, run without a GPU and with every check on.
#pragma once

#include "harness/device/device.h"

#include <memory>
#include <string>

namespace assay {

// Never fails where this device was built; a Result because opening a device can.
Result<std::unique_ptr<Device>> make_cpu_device();

// As make_cpu_device, but with the checks for races and for reads of unwritten memory chosen; bounds are
// always checked.
Result<std::unique_ptr<Device>> make_cpu_device(bool check_races, bool check_undefined);

} // namespace assay
