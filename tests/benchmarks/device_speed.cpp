// The CPU device against plain serial loops, in one run on one core: what its users wait for. Prints the
// times and, at the end, the ratios beside the limits that they should keep; README.md has the command and
// figures.
#include "harness/base/check.h"
#include "harness/compile/compile.h"
#include "harness/device/cpu/cpu_device.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace assay {
namespace {

constexpr const char* source = R"(
extern "C" __global__ void row_norm(const float* x, const float* weight, float* y, int cols, float eps) {
  __shared__ float partial[8];
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += row[c] * row[c];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < 8; ++w) sum += partial[w];
  const float scale = rsqrtf(sum / cols + eps);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[(size_t)blockIdx.x * cols + c] = row[c] * scale * weight[c];
}
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + col];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
extern "C" __global__ void chain(const float* x, float* y, int steps) {
  float value = x[threadIdx.x], factor = x[32 + threadIdx.x];
  for (int k = 0; k < steps; ++k)
    for (int j = 0; j < 16; ++j) value = value * factor * 0.5f + factor;
  y[threadIdx.x] = value;
}
extern "C" __global__ void tiny(float* y) { y[threadIdx.x] = 1; }
)";

constexpr std::int64_t rows = 8, cols = 4096, side = 128;

PtxSource compiled(std::vector<std::string> options = {}) {
  auto ptx =
      compile({"device_speed.cu", source, {"row_norm", "gemm", "chain", "tiny"}, {}, std::move(options)});
  ASSAY_CHECK(ptx.has_value(), "{}", to_string(ptx.error()));
  return *std::move(ptx);
}

std::vector<float> values(std::int64_t count) {
  std::vector<float> made(static_cast<std::size_t>(count));
  std::uint32_t state = 1;
  for (float& value : made) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) * 0x1p-23f - 1;
  }
  return made;
}

struct Rig {
  std::unique_ptr<Device> device;
  std::shared_ptr<Program> program;
  LaunchSpec spec;

  explicit Rig(bool checks, const std::vector<std::string>& options = {}) {
    auto made = make_cpu_device(checks, checks);
    ASSAY_CHECK(made.has_value(), "{}", to_string(made.error()));
    device = *std::move(made);
    auto loaded = device->load(compiled(options));
    ASSAY_CHECK(loaded.has_value(), "{}", to_string(loaded.error()));
    program = *std::move(loaded);
  }
  void pass(BufferRole role, std::int64_t count) {
    const std::vector<float> data = role == BufferRole::input ? values(count) : std::vector<float>{};
    auto buffer = device->allocate({.name = "b",
                                    .role = role,
                                    .dtype = DType::f32,
                                    .shape = {count},
                                    .initialized = role == BufferRole::input},
                                   std::as_bytes(std::span(data)));
    ASSAY_CHECK(buffer.has_value(), "{}", to_string(buffer.error()));
    spec.args.push_back(*buffer);
  }
  void pass(std::uint32_t bits) { spec.args.push_back(Scalar{bits, 4}); }
  void run() {
    auto report = device->launch(*program, spec);
    ASSAY_CHECK(report.has_value() && report->faults.empty(), "the kernel is at fault");
    ++spec.schedule_seed;
  }
};

void row_norm_serial(benchmark::State& state) {
  const std::vector<float> x = values(rows * cols), weight = values(cols);
  std::vector<float> y(x.size());
  for (auto _ : state) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* row = x.data() + r * cols;
      float sum = 0;
      for (std::int64_t c = 0; c < cols; ++c) sum += row[c] * row[c];
      const float scale = 1 / std::sqrt(sum / cols + 1e-6f);
      for (std::int64_t c = 0; c < cols; ++c)
        y[static_cast<std::size_t>(r * cols + c)] = row[c] * scale * weight[static_cast<std::size_t>(c)];
    }
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(row_norm_serial);

void row_norm_device(benchmark::State& state) {
  Rig rig(state.range(0) != 0);
  rig.spec.entry = "row_norm";
  rig.spec.grid = {rows, 1, 1};
  rig.spec.block = {256, 1, 1};
  rig.pass(BufferRole::input, rows * cols);
  rig.pass(BufferRole::input, cols);
  rig.pass(BufferRole::output, rows * cols);
  rig.pass(static_cast<std::uint32_t>(cols));
  rig.pass(std::bit_cast<std::uint32_t>(1e-6f));
  for (auto _ : state) rig.run();
}
BENCHMARK(row_norm_device)->ArgName("checks")->Arg(0)->Arg(1);

void gemm_serial(benchmark::State& state) {
  const std::vector<float> a = values(side * side), b = values(side * side);
  std::vector<float> c(a.size());
  for (auto _ : state) {
    for (std::size_t m = 0; m < side; ++m)
      for (std::size_t n = 0; n < side; ++n) {
        float sum = 0;
        for (std::size_t k = 0; k < side; ++k) sum += a[m * side + k] * b[k * side + n];
        c[m * side + n] = sum;
      }
    benchmark::DoNotOptimize(c.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(gemm_serial)->Unit(benchmark::kMicrosecond);

void gemm_device(benchmark::State& state) {
  Rig rig(state.range(0) != 0);
  rig.spec.entry = "gemm";
  rig.spec.grid = {side / 16, side / 16, 1};
  rig.spec.block = {16, 16, 1};
  rig.pass(BufferRole::input, side * side);
  rig.pass(BufferRole::input, side * side);
  rig.pass(BufferRole::output, side * side);
  rig.pass(static_cast<std::uint32_t>(side));
  for (auto _ : state) rig.run();
}
BENCHMARK(gemm_device)->ArgName("checks")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// A dependent chain of products and fused multiply-adds, one warp.
void chain_device(benchmark::State& state) {
  Rig rig(true, state.range(0) != 0 ? std::vector<std::string>{"--ftz=true"} : std::vector<std::string>{});
  rig.spec.entry = "chain";
  rig.spec.block = {32, 1, 1};
  rig.pass(BufferRole::input, 64);
  rig.pass(BufferRole::output, 32);
  rig.pass(1000);
  for (auto _ : state) rig.run();
}
BENCHMARK(chain_device)->ArgName("ftz")->Arg(0)->Arg(1);

// PTX text of as many lines as the first argument (comments and blank lines do not count) to machine code;
// each time on a device that has not seen it.
void ptx_to_machine_code(benchmark::State& state) {
  const PtxSource ptx = compiled();
  std::int64_t lines = 0;
  bool blank = true;
  for (const char letter : ptx.text) {
    if (letter == '\n') {
      lines += !blank;
      blank = true;
    } else if (letter != ' ' && letter != '\t') {
      blank = false;
    }
  }
  for (auto _ : state) {
    auto device = make_cpu_device(true, true); // without the cache of machine code
    auto loaded = (*device)->load(ptx);
    ASSAY_CHECK(loaded.has_value(), "{}", to_string(loaded.error()));
  }
  state.counters["lines"] = static_cast<double>(lines);
}
BENCHMARK(ptx_to_machine_code)->Unit(benchmark::kMillisecond);

void tiny_relaunch(benchmark::State& state) {
  Rig rig(true);
  rig.spec.entry = "tiny";
  rig.spec.block = {32, 1, 1};
  rig.pass(BufferRole::output, 32);
  for (auto _ : state) rig.run();
}
BENCHMARK(tiny_relaunch)->Unit(benchmark::kMicrosecond);

// Keeps the processor time of every repetition, in seconds.
class Collector : public benchmark::ConsoleReporter {
 public:
  Collector() : ConsoleReporter(OO_Tabular) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration) {
        times_[run.run_name.str()].push_back(run.cpu_accumulated_time / static_cast<double>(run.iterations));
        if (const auto lines = run.counters.find("lines"); lines != run.counters.end())
          lines_ = lines->second;
      }
    ConsoleReporter::ReportRuns(runs);
  }
  double median(const std::string& name) const {
    std::vector<double> sorted = times_.at(name);
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
  bool has_all() const { return times_.size() == 10; }
  double lines() const { return lines_; }

 private:
  std::map<std::string, std::vector<double>> times_;
  double lines_ = 0;
};

void print_ratios(const Collector& times) {
  const auto line = [](const char* what, double value, const char* unit, double limit) {
    fmt::print("{:<64} {:8.2f} {:<6} limit {}\n", what, value, unit, limit);
  };
  const auto ratio = [&](const char* a, const char* b) { return times.median(a) / times.median(b); };
  fmt::print("\nmedians of processor time\n");
  line("row norm 8x4096 f32, checks off, over a serial loop",
       ratio("row_norm_device/checks:0", "row_norm_serial"), "x", 5);
  line("row norm, checks on over off", ratio("row_norm_device/checks:1", "row_norm_device/checks:0"), "x",
       2.5);
  line("tiled gemm 128x128x128 f32, checks on, over a triple loop",
       ratio("gemm_device/checks:1", "gemm_serial"), "x", 15);
  line("PTX to machine code, for 500 lines", 1e3 * times.median("ptx_to_machine_code") * 500 / times.lines(),
       "ms", 150);
  line("launching a tiny kernel again", 1e6 * times.median("tiny_relaunch"), "us", 20);
  fmt::print("{:<64} {:8.2f} x\n", "products and fused multiply-adds, .ftz over plain",
             ratio("chain_device/ftz:1", "chain_device/ftz:0"));
}

} // namespace
} // namespace assay

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  assay::Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  if (collector.has_all()) assay::print_ratios(collector);
  return 0;
}
