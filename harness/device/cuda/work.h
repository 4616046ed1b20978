// The launches of one case as the process that drives a GPU queues them, perhaps again and again: timed
// (timing.h), or captured in a graph (graph.h).
#pragma once

#include "harness/device/cuda/driver.h"
#include "harness/device/cuda/protocol.h"

#include <span>
#include <vector>

namespace assay::cuda {

struct BoundLaunch {
  void* function = nullptr; // may take launch.shared_bytes
  GpuLaunch launch;
};

struct Work {
  Address arena = 0; // holds the case's buffers
  std::vector<BoundLaunch> launches;
  std::vector<Clear> clears; // of buffers that a launcher sets to zero before the first launch
};

// Each returns before the GPU is done.
Status queue_launch(const Driver& driver, const BoundLaunch& bound, Address arena, void* stream);
Status queue_launches(const Driver& driver, const Work& work, void* stream);
Status queue_clears(const Driver& driver, const Work& work, void* stream);

// Of the driver: destroyed with this object.
class Handle {
 public:
  using Destroy = Status (*)(void*);
  explicit Handle(Destroy destroy) : destroy_(destroy) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (handle_ != nullptr) destroy_(handle_);
  }
  void** out() { return &handle_; } // for a function of the driver that makes it
  void* get() const { return handle_; }

 private:
  void* handle_ = nullptr;
  Destroy destroy_;
};

} // namespace assay::cuda
