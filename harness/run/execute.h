// The target alone: its buffers, its launches, what it wrote and what the device saw.
#pragma once

#include "harness/base/error.h"
#include "harness/device/device.h"
#include "harness/numerics/tensor.h"
#include "harness/run/plan.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay {

struct SeenFault {
  Pass pass = Pass::forward; // of the launch
  Fault fault;
};

struct Execution {
  std::vector<Tensor> outputs; // in Plan::tensors order; only tested ones are filled
  std::vector<std::vector<std::int64_t>>
      unwritten; // likewise: the first few dense indices that no launch wrote
  std::vector<SeenFault> faults;
  bool finished = true; // every launch ran to its end; else the outputs mean nothing
  std::uint64_t steps = 0;
};

// Whether the launches run twice, each time on buffers of their own, and the second time is what is looked
// at: in half of the schedules of a program that keeps state, whose variables are then as the first launches
// left them, as for all but the first call in a process. Never for schedule 0.
bool runs_twice(const Plan& plan, std::uint64_t schedule_seed);

// The case's buffers on the device, and its launches on them, those with an empty grid left out.
struct Prepared {
  std::vector<BufferId> tensors; // in Plan::tensors order; meaningless where one is not present
  std::vector<LaunchSpec> launches;
  std::vector<Pass> passes; // of each launch
};
Result<Prepared> prepare(Device& device, const Plan& plan, std::span<const Tensor> inputs,
                         std::uint64_t schedule_seed);

// inputs: in Plan::tensors order, dense; only inputs and upstream gradients are read. A launch whose grid is
// empty is left out, as a launcher leaves it out. schedule_seed is spread over the launches.
Result<Execution> execute(Device& device, const Plan& plan, std::span<const Tensor> inputs,
                          std::uint64_t schedule_seed);

} // namespace assay
