#include "harness/device/cpu/runtime/engine.h"

#include "harness/base/check.h"
#include "harness/device/cpu/runtime/definedness.h"
#include "harness/device/cpu/runtime/scheduler.h"
#include "harness/device/launch_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace assay::cpu {
namespace {

CompareHook compare_hook = nullptr;

constexpr std::uint32_t shared_gap = 16; // between the static variables and the dynamic part

// Scale-free: any machine gives the same verdict, and a kernel that walks all of its memory, even in a single
// warp, one element a step and many times over, stays below it.
std::uint64_t default_step_budget(std::size_t buffer_bytes) {
  return (std::uint64_t{1} << 22) + std::uint64_t{64} * buffer_bytes;
}

} // namespace

struct Engine::State {
  Memory memory;
  FiberPool fibers;
  Scheduler scheduler;
  Launch launch{memory, fibers};
  Checks checks;
  CompareHook hook = nullptr;

  void set_parameters(const CompiledEntry& entry, const LaunchSpec& spec);
  void set_shared(const CompiledEntry& entry, const LaunchSpec& spec);
};

Engine::Engine() : state_(std::make_unique<State>()) {}
Engine::~Engine() = default;

void Engine::set_checks(Checks checks) { state_->checks = checks; }
void Engine::set_compare_hook(CompareHook hook) { state_->hook = hook; }
void Engine::set_print_sink(std::string* sink) { state_->launch.print_sink = sink; }

std::uint64_t Engine::reserve_slot() { return state_->memory.reserve_variable_slot(); }

Result<BufferId> Engine::allocate(const BufferSpec& spec, std::span<const std::byte> dense) {
  return state_->memory.allocate(spec, dense, state_->checks.undefined);
}
void Engine::fill_zero(BufferId buffer) { state_->memory.fill_zero(buffer); }
void Engine::release_all() {
  state_->memory.release_all();
  state_->launch.segments.forget();
}
Result<void> Engine::read(BufferId buffer, std::span<std::byte> dense) const {
  state_->memory.read(buffer, dense);
  return {};
}
std::vector<std::int64_t> Engine::unwritten(BufferId buffer, std::size_t limit) const {
  return state_->memory.unwritten(buffer, limit);
}
std::uint64_t Engine::address_of(BufferId buffer) const {
  const Region& region = state_->memory.buffer(buffer);
  return generic_address(first_buffer_slot + static_cast<std::uint64_t>(buffer), region.offset);
}

void Engine::State::set_parameters(const CompiledEntry& entry, const LaunchSpec& spec) {
  launch.parameter_storage.assign(entry.param_window_bytes, std::byte{0});
  for (std::size_t i = 0; i < spec.args.size(); ++i) {
    std::uint64_t bits;
    if (const auto* scalar = std::get_if<Scalar>(&spec.args[i])) {
      bits = scalar->bits;
    } else {
      const BufferId id = std::get<BufferId>(spec.args[i]);
      bits = generic_address(first_buffer_slot + static_cast<std::uint64_t>(id), memory.buffer(id).offset);
    }
    const std::uint32_t size = entry.info.param_bytes[i];
    ASSAY_CHECK(entry.param_offsets[i] + size <= entry.param_window_bytes, "parameter {} outside the window",
                i);
    std::memcpy(launch.parameter_storage.data() + entry.param_offsets[i], &bits, size);
  }
  Region& region = launch.parameters;
  region.kind = RegionKind::parameters;
  region.name = "the parameters";
  region.read_only = true;
  region.data = launch.parameter_storage.data();
  region.end = entry.param_window_bytes;
}

void Engine::State::set_shared(const CompiledEntry& entry, const LaunchSpec& spec) {
  const std::uint32_t alignment = std::max<std::uint32_t>(entry.dynamic_alignment, 16);
  const std::uint32_t start = entry.shared_bytes ? entry.shared_bytes + shared_gap : 0;
  launch.dynamic_shared = (start + alignment - 1) / alignment * alignment;
  launch.dynamic_shared_bytes = static_cast<std::uint32_t>(spec.shared_bytes);
  launch.shared_window =
      launch.dynamic_shared_bytes ? launch.dynamic_shared + launch.dynamic_shared_bytes : entry.shared_bytes;
  launch.shared_pieces.clear();
  for (const SharedVariable& variable : entry.shared) {
    ASSAY_CHECK(variable.offset + variable.bytes <= entry.shared_bytes, "shared {} outside the window",
                variable.name);
    launch.shared_pieces.push_back(
        {"shared " + variable.name, variable.offset, std::int64_t{variable.offset} + variable.bytes});
  }
  if (launch.dynamic_shared_bytes)
    launch.shared_pieces.push_back({"dynamic shared memory", launch.dynamic_shared, launch.shared_window});
}

Result<LaunchReport> Engine::launch(CompiledModule& module, const CompiledEntry& entry,
                                    const LaunchSpec& spec) {
  State& state = *state_;
  Launch& launch = state.launch;
  ASSAY_CHECK(entry.function, "entry {} has no code", entry.info.name);
  LaunchReport report;
  if (std::optional<std::string> broken = broken_limit(entry.info, spec)) {
    report.faults.push_back({Kind::launch, "", {}, "launch: " + *std::move(broken), false});
    return report;
  }
  if (entry.local_bytes > max_local_bytes) {
    report.faults.push_back(
        {Kind::launch,
         "",
         {},
         fmt::format("launch: {} declares {} bytes of local variables a thread (at most {})", entry.info.name,
                     entry.local_bytes, max_local_bytes),
         false});
    return report;
  }
  for (const ModuleVariable& variable : module.variables) state.memory.set_variable(variable);
  if (module.block_counters.size() < module.block_count) module.block_counters.resize(module.block_count);

  launch.faults.start(&module);
  launch.checks = state.checks;
  launch.module = &module;
  launch.entry = &entry;
  const Dim3 *grid = &spec.grid, *block = &spec.block;
  launch.grid[0] = static_cast<std::uint32_t>(grid->x);
  launch.grid[1] = static_cast<std::uint32_t>(grid->y);
  launch.grid[2] = static_cast<std::uint32_t>(grid->z);
  launch.block[0] = static_cast<std::uint32_t>(block->x);
  launch.block[1] = static_cast<std::uint32_t>(block->y);
  launch.block[2] = static_cast<std::uint32_t>(block->z);
  launch.block_total = grid->x * grid->y * grid->z;
  launch.blocks_started = 0;
  launch.step_budget = spec.step_budget ? spec.step_budget : default_step_budget(state.memory.buffer_bytes());
  launch.steps = 0;
  launch.ended = false;
  launch.early_read = {};
  launch.random = ScheduleRandom(spec.schedule_seed);
  launch.interleaving.start(spec.schedule_seed, launch.block_total);
  launch.printed = 0;
  ++launch.grid_id;
  launch.segments.start_launch();
  state.set_parameters(entry, spec);
  state.set_shared(entry, spec);
  compare_hook = state.hook;

  state.scheduler.run(launch);

  if (launch.checks.undefined) report_undefined_outputs(launch);
  report.faults = std::move(launch.faults.faults());
  report.steps = launch.steps;
  return report;
}

void assay_compare(const Site* site, std::uint64_t a, std::uint64_t b, std::uint32_t bits) {
  if (compare_hook) compare_hook(site->id, a, b, bits);
}

} // namespace assay::cpu
