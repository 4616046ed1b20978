// Devices that time launches themselves, by their own clock: CUDA by events. A device that offers it derives
// from this beside Device; who wants times asks by dynamic_cast.
#pragma once

#include "harness/device/device.h"

#include <span>
#include <vector>

namespace assay {

class LaunchTimer {
 public:
  virtual ~LaunchTimer() = default;

  // The seconds that the launches took together, one after the other on the buffers allocated so far, in each
  // of at most `repeats` runs: as many as fit in about a second, at least one. No run finds the buffers in a
  // cache, and runs before the first are not counted. Nothing is checked: faults of the kernel are
  // environment errors here.
  virtual Result<std::vector<double>> time_launches(Program& program, std::span<const LaunchSpec> launches,
                                                    int repeats) = 0;

  // What a copy of a buffer larger than every cache attains: bytes read and written, a second.
  virtual Result<double> copy_bandwidth() = 0;
};

} // namespace assay
