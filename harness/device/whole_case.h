// Devices on which all launches of a case in one request cost little more than one of them. A device that
// offers it derives from this beside Device; who can use it asks by dynamic_cast.
#pragma once

#include "harness/device/device.h"

#include <span>

namespace assay {

class WholeCase {
 public:
  virtual ~WholeCase() = default;

  // Runs the launches one after the other on the buffers as allocated. True: each ran to its end, nothing is
  // wrong, and the buffers hold what they left. False: something is wrong, and the buffers are as before;
  // launched one by one, they tell what it is. Errors: as of Device::launch.
  virtual Result<bool> launch_whole(Program& program, std::span<const LaunchSpec> launches) = 0;
};

} // namespace assay
