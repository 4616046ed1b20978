#include "harness/device/cuda/work.h"

namespace assay::cuda {

Status queue_launch(const Driver& driver, const BoundLaunch& bound, Address arena, void* stream) {
  const GpuLaunch& launch = bound.launch;
  std::vector<std::uint64_t> values;
  std::vector<void*> pointers;
  for (const Parameter& parameter : launch.parameters)
    values.push_back(parameter.bits + (parameter.in_arena != 0 ? arena : 0));
  for (std::uint64_t& value : values) pointers.push_back(&value);
  return driver.launch(bound.function, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                       launch.block[1], launch.block[2], launch.shared_bytes, stream, pointers.data(),
                       nullptr);
}

Status queue_launches(const Driver& driver, const Work& work, void* stream) {
  Status status = success;
  for (const BoundLaunch& bound : work.launches)
    if (status == success) status = queue_launch(driver, bound, work.arena, stream);
  return status;
}

Status queue_clears(const Driver& driver, const Work& work, void* stream) {
  Status status = success;
  for (const Clear& clear : work.clears)
    if (status == success) status = driver.queue_fill(work.arena + clear.offset, 0, clear.bytes, stream);
  return status;
}

} // namespace assay::cuda
