#include "harness/run/execute.h"

#include "harness/base/hash.h"
#include "harness/device/whole_case.h"

#include <algorithm>

namespace assay {

namespace {

constexpr std::size_t unwritten_told = 8;

// After these the launch did not run to its end.
bool is_fatal(Kind kind) {
  switch (kind) {
  case Kind::launch:
  case Kind::trap:
  case Kind::out_of_bounds:
  case Kind::misaligned:
  case Kind::barrier:
  case Kind::timeout:
    return true;
  default:
    return false;
  }
}

bool is_written(Role role) { return role == Role::output || role == Role::gradient; }

struct Buffers {
  std::vector<BufferId> tensors, scratch;
};

Result<Buffers> allocate(Device& device, const Plan& plan, std::span<const Tensor> inputs) {
  Buffers buffers;
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlannedTensor& tensor = plan.tensors[i];
    BufferId id{};
    if (tensor.present) {
      BufferSpec spec;
      spec.name = tensor.info->name;
      spec.role = is_written(tensor.info->role) ? BufferRole::output : BufferRole::input;
      spec.dtype = tensor.dtype;
      spec.shape = tensor.shape;
      spec.strides = tensor.strides;
      spec.offset = static_cast<std::size_t>(tensor.offset) * size_of(tensor.dtype);
      spec.initialized = spec.role == BufferRole::input;
      ASSAY_TRY(id, device.allocate(spec, spec.initialized ? std::span<const std::byte>(inputs[i].bytes)
                                                           : std::span<const std::byte>()));
      if (tensor.info->starts_at_zero) device.fill_zero(id);
    }
    buffers.tensors.push_back(id);
  }
  for (const PlannedScratch& scratch : plan.scratch) {
    ASSAY_TRY(const BufferId id, device.allocate({.name = scratch.name,
                                                  .role = BufferRole::scratch,
                                                  .dtype = scratch.dtype,
                                                  .shape = scratch.shape,
                                                  .strides = {},
                                                  .offset = 0,
                                                  .initialized = false},
                                                 {}));
    if (scratch.zero) device.fill_zero(id);
    buffers.scratch.push_back(id);
  }
  return buffers;
}

// Basic blocks that a warp may execute before it counts as hung: many for every step of the formula, which
// the product of the dims bounds, but no more than the device allows by itself (0). A kernel that never ends
// is seen the sooner, the smaller the case.
std::uint64_t step_budget(const Plan& plan) {
  constexpr std::uint64_t for_itself = std::uint64_t{1} << 19, for_a_step = 64, most = std::uint64_t{1} << 22;
  std::uint64_t steps = 1;
  for (const std::int64_t size : plan.dims)
    if (__builtin_mul_overflow(steps, static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1)), &steps) ||
        steps > most / for_a_step)
      return 0;
  return for_itself + for_a_step * steps;
}

Argument argument_of(const PlannedArgument& planned, const Buffers& buffers) {
  if (const auto* tensor = std::get_if<TensorArgument>(&planned)) return buffers.tensors[tensor->index];
  if (const auto* scratch = std::get_if<ScratchArgument>(&planned)) return buffers.scratch[scratch->index];
  return std::get<Scalar>(planned);
}

// Appends the launches, on buffers of their own.
Result<void> append(Prepared& prepared, Device& device, const Plan& plan, std::span<const Tensor> inputs,
                    std::uint64_t schedule_seed) {
  ASSAY_TRY(Buffers buffers, allocate(device, plan, inputs));
  for (const PlannedLaunch& launch : plan.launches) {
    if (launch.grid.x == 0 || launch.grid.y == 0 || launch.grid.z == 0) continue;
    LaunchSpec spec;
    spec.entry = launch.entry;
    spec.grid = launch.grid;
    spec.block = launch.block;
    spec.shared_bytes = launch.shared_bytes;
    for (const PlannedArgument& argument : launch.args) spec.args.push_back(argument_of(argument, buffers));
    spec.schedule_seed = schedule_seed;
    spec.step_budget = step_budget(plan);
    prepared.launches.push_back(std::move(spec));
    prepared.passes.push_back(launch.pass);
  }
  prepared.tensors = std::move(buffers.tensors);
  return {};
}

} // namespace

bool runs_twice(const Plan& plan, std::uint64_t schedule_seed) {
  return plan.keeps_state && schedule_seed != 0 &&
         content_hash64(fmt::format("runs twice {}", schedule_seed)) % 2 == 0;
}

Result<Prepared> prepare(Device& device, const Plan& plan, std::span<const Tensor> inputs,
                         std::uint64_t schedule_seed) {
  device.release_all();
  Prepared prepared;
  ASSAY_TRY_VOID(append(prepared, device, plan, inputs, schedule_seed));
  return prepared;
}

Result<Execution> execute(Device& device, const Plan& plan, std::span<const Tensor> inputs,
                          std::uint64_t schedule_seed) {
  ASSAY_TRY(Prepared prepared, prepare(device, plan, inputs, schedule_seed));
  if (runs_twice(plan, schedule_seed)) ASSAY_TRY_VOID(append(prepared, device, plan, inputs, schedule_seed));
  Execution execution;
  bool clean = false;
  if (auto* whole = dynamic_cast<WholeCase*>(&device); whole != nullptr && !prepared.launches.empty()) {
    ASSAY_TRY(clean, whole->launch_whole(*plan.program, prepared.launches));
  }
  for (std::size_t k = 0; k < prepared.launches.size() && !clean; ++k) {
    ASSAY_TRY(LaunchReport report, device.launch(*plan.program, prepared.launches[k]));
    execution.steps += report.steps;
    for (Fault& fault : report.faults) {
      if (!fault.note && is_fatal(fault.kind)) execution.finished = false;
      execution.faults.push_back({prepared.passes[k], std::move(fault)});
    }
    if (!execution.finished) break;
  }

  execution.outputs.resize(plan.tensors.size());
  execution.unwritten.resize(plan.tensors.size());
  for (std::size_t i = 0; i < plan.tensors.size() && execution.finished; ++i) {
    const PlannedTensor& tensor = plan.tensors[i];
    if (!tensor.tested) continue;
    Tensor& output = execution.outputs[i];
    output.dtype = tensor.dtype;
    output.shape = tensor.shape;
    output.bytes.resize(static_cast<std::size_t>(output.element_count()) * size_of(output.dtype));
    ASSAY_TRY_VOID(device.read(prepared.tensors[i], output.bytes));
    if (!tensor.info->starts_at_zero)
      execution.unwritten[i] = device.unwritten(prepared.tensors[i], unwritten_told);
  }
  return execution;
}

} // namespace assay
