// The CUDA device: kernels on a real GPU, driven by a process of its own (server.h), which a fault may end
// and another takes the place of. Buffers stand in an arena (arena.h): every launch runs in two worlds, and
// what the GPU itself does not tell is read off their bytes afterwards.
//
// All buffers of a case are made before its first launch. Places of faults are not known here.
#pragma once

#include "harness/device/cuda/batch_tuning.h"
#include "harness/device/cuda/driver.h"
#include "harness/device/device.h"

#include <chrono>
#include <filesystem>
#include <memory>

namespace assay {

struct CudaOptions {
  int ordinal = 0;
  std::filesystem::path cache_dir; // of cubins; empty: none
  // How long a launch may take, both worlds together: the first time, and once one has been found to hang.
  std::chrono::milliseconds watchdog = std::chrono::seconds(10);
  std::chrono::milliseconds watchdog_again = std::chrono::seconds(2);
  cuda::BatchTuning batch;
};

// Environment error: no driver, no such GPU.
Result<std::unique_ptr<Device>> make_cuda_device(int ordinal);
// The same over a driver of the caller's; it must outlive the device.
Result<std::unique_ptr<Device>> make_cuda_device(const cuda::Driver& driver, const CudaOptions& options);

// How many GPUs the driver shows; 0 where there is none. Asked in a process of its own.
int cuda_device_count();

// Workers beside each other share `gpus` out, counted round and round; worker 0 has the first.
constexpr int gpu_of_worker(unsigned worker, int gpus) {
  return gpus > 1 ? static_cast<int>(worker % static_cast<unsigned>(gpus)) : 0;
}

} // namespace assay
