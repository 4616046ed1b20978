#include "harness/device/cuda/batch_fan.h"

namespace assay::cuda {

Status launch_on(const Driver& driver, const KernelLaunch& launch, void* stream) {
  return driver.launch(launch.function, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                       launch.block[1], launch.block[2], launch.shared_bytes, stream, launch.parameters,
                       nullptr);
}

Status Streams::create(const Driver& driver, unsigned count) {
  const auto event = [&](void** made) { return driver.event_create(made, event_without_time); };
  Status status = driver.stream_create(&trunk, stream_does_not_wait);
  if (status == success) status = event(&forked);
  branches.resize(count);
  joined.resize(count);
  for (unsigned i = 0; i < count && status == success; ++i) {
    status = driver.stream_create(&branches[i], stream_does_not_wait);
    if (status == success) status = event(&joined[i]);
  }
  return status;
}

Status StreamFan::fork(unsigned branches) {
  forked_ = branches;
  if (branches == 1) return success;
  Status status = driver_.event_record(streams_.forked, streams_.trunk);
  for (unsigned i = 0; i < branches && status == success; ++i)
    status = driver_.stream_wait(streams_.branches[i], streams_.forked, 0);
  return status;
}

Status StreamFan::launch(unsigned branch, const KernelLaunch& launch) {
  return launch_on(driver_, launch, forked_ == 1 ? streams_.trunk : streams_.branches[branch]);
}

Status StreamFan::join() {
  Status status = success;
  for (unsigned i = 0; i < forked_ && forked_ > 1 && status == success; ++i) {
    status = driver_.event_record(streams_.joined[i], streams_.branches[i]);
    if (status == success) status = driver_.stream_wait(streams_.trunk, streams_.joined[i], 0);
  }
  return status;
}

Status GraphFan::fork(unsigned branches) {
  branches_.assign(branches, nullptr);
  return success;
}

Status GraphFan::launch(unsigned branch, const KernelLaunch& launch) {
  void*& last = branches_[branch];
  const std::span<void* const> waits_for =
      last == nullptr ? std::span<void* const>(trunk_) : std::span<void* const>(&last, 1);
  void* made = nullptr;
  const Status status =
      driver_.graph_add_kernel(&made, into_.graph.get(), waits_for.data(), waits_for.size(), &launch);
  into_.nodes.push_back(last = made);
  return status;
}

Status GraphFan::join() {
  trunk_ = branches_;
  return success;
}

} // namespace assay::cuda
