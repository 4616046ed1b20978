// Printed, not timed by tests: what one warp instruction and one launch cost.
#include "harness/device/cpu/runtime/engine.h"
#include "harness/device/cpu/runtime/math.h"

#include <benchmark/benchmark.h>

#include <array>
#include <span>

namespace assay::cpu {
namespace {

constexpr unsigned repeats = 4096; // accesses inside one launch

struct Job { // what the kernel below does `repeats` times; benchmarks run one at a time
  Access access;
  std::uint64_t base = 0, stride = 4;
  bool store = false, sync = false, initialize = false;
  std::uint32_t lanes = ~0u;
} job;

void kernel(Warp* warp) {
  std::uint64_t addresses[warp_lanes];
  alignas(64) std::array<float, warp_lanes * 4> values{};
  std::uint32_t undefined[4] = {};
  for (unsigned i = 0; i < warp_lanes; ++i) addresses[i] = job.base + i * job.stride;
  if (!job.store && job.initialize) {
    assay_store(warp, job.lanes, &job.access, addresses, values.data(), undefined);
    assay_warp_synced(warp, ~0u);
  }
  for (unsigned n = 0; n < repeats; ++n) {
    if (job.sync) assay_warp_synced(warp, ~0u);
    if (job.store)
      assay_store(warp, job.lanes, &job.access, addresses, values.data(), undefined);
    else
      assay_load(warp, job.lanes, &job.access, addresses, values.data(), undefined);
    benchmark::DoNotOptimize(values);
  }
}

struct Bench {
  Engine engine;
  CompiledModule module;
  CompiledEntry entry;
  LaunchSpec spec;
  explicit Bench(WarpFunction function) {
    entry.info.name = "kernel";
    entry.function = function;
    spec.entry = "kernel";
    spec.block = {32, 1, 1};
  }
  BufferId allocate(BufferRole role) {
    return *engine.allocate({.name = "b",
                             .role = role,
                             .dtype = DType::f32,
                             .shape = {8192},
                             .initialized = role == BufferRole::input},
                            {});
  }
  void run() {
    auto report = engine.launch(module, entry, spec);
    benchmark::DoNotOptimize(report);
  }
};

void access_cost(benchmark::State& state, BufferRole role, Job what, bool checks = true) {
  Bench bench(&kernel);
  bench.engine.set_checks({.races = checks, .undefined = checks});
  const BufferId buffer = bench.allocate(role);
  what.base = what.access.space == Space::shared ? 0 : bench.engine.address_of(buffer);
  bench.entry.shared_bytes = 16384;
  bench.entry.shared = {{"tile", 0, 16384}};
  job = what;
  for (auto _ : state) bench.run();
  state.counters["ns_per_access"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * repeats * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

constexpr Access global_f32{{1, 1, 1, 1}, Space::global, 4, 1, weak};
constexpr Access global_f32x4{{1, 1, 1, 1}, Space::global, 4, 4, weak};
constexpr Access shared_f32{{1, 1, 1, 1}, Space::shared, 4, 1, weak};

BENCHMARK_CAPTURE(access_cost, load_input_consecutive, BufferRole::input, Job{.access = global_f32});
BENCHMARK_CAPTURE(access_cost, load_input_uniform, BufferRole::input, Job{.access = global_f32, .stride = 0});
BENCHMARK_CAPTURE(access_cost, load_input_strided, BufferRole::input,
                  Job{.access = global_f32, .stride = 128});
BENCHMARK_CAPTURE(access_cost, load_input_partial, BufferRole::input,
                  Job{.access = global_f32, .lanes = 0x1fffff});
BENCHMARK_CAPTURE(access_cost, load_input_float4, BufferRole::input,
                  Job{.access = global_f32x4, .stride = 16});
BENCHMARK_CAPTURE(access_cost, store_output_consecutive, BufferRole::output,
                  Job{.access = global_f32, .store = true});
BENCHMARK_CAPTURE(access_cost, store_output_resynced, BufferRole::output,
                  Job{.access = global_f32, .store = true, .sync = true});
BENCHMARK_CAPTURE(access_cost, store_output_float4, BufferRole::output,
                  Job{.access = global_f32x4, .stride = 16, .store = true});
BENCHMARK_CAPTURE(access_cost, store_output_strided, BufferRole::output,
                  Job{.access = global_f32, .stride = 128, .store = true});
BENCHMARK_CAPTURE(access_cost, store_output_unchecked, BufferRole::output,
                  Job{.access = global_f32, .store = true}, false);
BENCHMARK_CAPTURE(access_cost, load_scratch_consecutive, BufferRole::scratch,
                  Job{.access = global_f32, .initialize = true});
BENCHMARK_CAPTURE(access_cost, load_shared_consecutive, BufferRole::scratch,
                  Job{.access = shared_f32, .initialize = true});
BENCHMARK_CAPTURE(access_cost, load_shared_uniform, BufferRole::scratch,
                  Job{.access = shared_f32, .stride = 0, .initialize = true});
BENCHMARK_CAPTURE(access_cost, load_shared_strided, BufferRole::scratch,
                  Job{.access = shared_f32, .stride = 128, .initialize = true});
BENCHMARK_CAPTURE(access_cost, store_shared_consecutive, BufferRole::scratch,
                  Job{.access = shared_f32, .store = true});

void tiny_launch(benchmark::State& state) {
  Bench bench([](Warp* warp) { benchmark::DoNotOptimize(warp); });
  bench.spec.grid = {static_cast<std::uint64_t>(state.range(0)), 1, 1};
  bench.spec.block = {static_cast<std::uint64_t>(state.range(1)), 1, 1};
  for (auto _ : state) bench.run();
}
BENCHMARK(tiny_launch)->Args({1, 32})->Args({1, 256})->Args({8, 256});

void barriers(benchmark::State& state) { // per warp and barrier
  Bench bench([](Warp* warp) {
    static const BarrierSite site{{1, 1, 1, 1}, BarrierMode::sync, true};
    for (unsigned n = 0; n < 64; ++n) assay_barrier(warp, warp->alive, &site, 0, 0, 0);
  });
  bench.spec.block = {256, 1, 1};
  for (auto _ : state) bench.run();
  state.counters["ns_per_barrier"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 8 * 64 * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(barriers);

template <void (*function)(const float*, float*)> void math(benchmark::State& state) {
  std::array<float, warp_lanes> x, y;
  for (unsigned i = 0; i < warp_lanes; ++i) x[i] = 0.37f * static_cast<float>(i + 1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(x);
    function(x.data(), y.data());
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(math<assay_ex2_f32>);
BENCHMARK(math<assay_lg2_f32>);
BENCHMARK(math<assay_sin_f32>);
BENCHMARK(math<assay_tanh_f32>);
BENCHMARK(math<assay_rcp_f32>);
BENCHMARK(math<assay_rsqrt_f32>);

void fma_half(benchmark::State& state) {
  std::array<std::uint16_t, warp_lanes> x, y;
  x.fill(0x3c01);
  for (auto _ : state) {
    benchmark::DoNotOptimize(x);
    assay_fma_f16(x.data(), x.data(), x.data(), y.data());
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(fma_half);

} // namespace
} // namespace assay::cpu

BENCHMARK_MAIN();
