// What a case of a batch costs on a GPU by the launches alone: kernels of 3x257 floats, one or three launches
// a case, over streams and in graphs of as many chains; then with inputs filled and results judged around
// them. Needs a GPU; README.md has the command and figures.
#include "harness/base/check.h"
#include "harness/compile/compile.h"
#include "harness/device/batch.h"
#include "harness/device/cuda/cuda_device.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace assay {
namespace {

// The kernel on trial is a row norm; fill and judge are as heavy as a screen's: some twenty instructions an
// element, and two passes in double, of a block a case.
constexpr const char* source = R"(
typedef unsigned long long u64;
constexpr int rows = 3, cols = 257, count = rows * cols;
extern "C" __global__ void fill(const u64* given, unsigned char* slots, u64 slot_bytes, unsigned cases) {
  float* x = (float*)(slots + blockIdx.x * slot_bytes);
  const u64 seed = given[blockIdx.x < cases ? blockIdx.x : blockIdx.x - cases];
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    u64 word = seed + i;
    for (int k = 0; k < 4; ++k) word = (word ^ word >> 27) * 0x9E3779B97F4A7C15;
    x[i] = (float)(word >> 40) / (1 << 24);
  }
}
extern "C" __global__ void row_norm(const float* x, float* y, int times) {
  __shared__ float partial[8];
  for (; times > 0; --times) {
  const float* row = x + blockIdx.x * cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += row[c] * row[c];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < 8; ++w) sum += partial[w];
  const float scale = rsqrtf(sum / cols + 1e-6f);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = row[c] * scale;
  __syncthreads();
  }
}
extern "C" __global__ void judge(const unsigned char* slots, u64 slot_bytes, double* results) {
  const float* x = (const float*)(slots + blockIdx.x * slot_bytes);
  const float* y = x + 1024;
  __shared__ double partial[256];
  double worst = 0;
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += (double)x[row * cols + c] * x[row * cols + c];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
      __syncthreads();
    }
    const double scale = 1 / sqrt(partial[0] / cols + 1e-6);
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
      worst = fmax(worst, fabs(x[row * cols + c] * scale - y[row * cols + c]));
  }
  partial[threadIdx.x] = worst;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 256; ++i) worst = fmax(worst, partial[i]);
    results[blockIdx.x] = worst;
  }
}
)";

constexpr std::size_t cases = 8192, slot_bytes = 8192;
constexpr int repeats = 5;
constexpr unsigned never = ~0u; // worth a graph

template <class T> void exit_on_error(const Result<T>& result) {
  if (result) return;
  fmt::print(stderr, "batch_speed: {}\n", to_string(result.error()));
  std::exit(exit_code(result.error().kind));
}
template <class T> T value_or_exit(Result<T> result) {
  exit_on_error(result);
  return *std::move(result);
}

// From the cache once it has been compiled: by a child, for NVRTC would spoil this process for the devices
// that are opened later (harness/device/cuda/README.md).
PtxSource ptx() {
  CompileRequest request;
  request.path = "batch_speed.cu";
  request.text = source;
  request.names = {"row_norm"};
  static const bool compiled = [&] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(compile(request) ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status == 0;
  }();
  ASSAY_CHECK(compiled, "the kernels do not compile");
  return value_or_exit(compile(request));
}

struct Shape {
  int launches = 1; // of a case
  bool judged = false;
  std::uint32_t times = 1; // the kernel does its work
  std::uint32_t wave = 512, twins = 0;
  cuda::BatchTuning tuning{};
};

Batch batch_of(const Shape& shape, const std::shared_ptr<Program>& program) {
  using Area = BatchArgument::Area;
  using Over = BatchStep::Over;
  const auto at = [](Area area, std::uint64_t bits = 0) { return BatchArgument{area, bits}; };
  Batch batch;
  batch.given_bytes = 8;
  batch.slot_bytes = slot_bytes;
  batch.result_bytes = {8};
  batch.wave_cases = shape.wave;
  batch.wave_twins = shape.twins;
  BatchStep step;
  step.program = program;
  step.block = {256};
  if (shape.judged) {
    step.over = Over::slots;
    step.entry = "fill";
    step.args = {at(Area::given), at(Area::slot), at(Area::value, slot_bytes), at(Area::cases)};
    batch.steps.push_back(step);
  }
  step.over = Over::each;
  step.entry = "row_norm";
  step.grid = {3};
  step.args = {at(Area::slot), at(Area::slot, 4096), {Area::value, shape.times, 4}};
  batch.steps.insert(batch.steps.end(), static_cast<std::size_t>(shape.launches), step);
  if (shape.judged) {
    step.over = Over::cases;
    step.entry = "judge";
    step.grid = {1};
    step.args = {at(Area::slot), at(Area::value, slot_bytes), at(Area::results)};
    batch.steps.push_back(step);
  }
  return batch;
}

class Batches {
 public:
  explicit Batches(const Shape& shape) {
    CudaOptions options;
    options.cache_dir = default_cache_dir();
    options.batch = shape.tuning;
    device_ = value_or_exit(make_cuda_device(*value_or_exit(cuda::load_driver()), options));
    batch_ = batch_of(shape, value_or_exit(device_->load(ptx())));
    open();
    for (std::size_t i = 0; i < cases; ++i) given_[i] = i;
  }
  void open() { exit_on_error(batches().open_batch(batch_)); }
  void submit() {
    exit_on_error(batches().submit(std::as_bytes(std::span(given_)), cases));
    const BatchOutcome outcome = value_or_exit(batches().collect());
    ASSAY_CHECK(outcome.done, "{}", outcome.why);
  }

 private:
  BatchDevice& batches() { return dynamic_cast<BatchDevice&>(*device_); }

  std::unique_ptr<Device> device_;
  Batch batch_;
  std::vector<std::uint64_t> given_ = std::vector<std::uint64_t>(cases);
};

// reopened: each iteration opens the batch anew, as a burst does, and submits once.
void measure(benchmark::State& state, const Shape& shape, bool reopened) {
  Batches batches(shape);
  batches.submit();
  if (!reopened) batches.submit();
  const auto begin = std::chrono::steady_clock::now();
  for (auto _ : state) {
    if (reopened) batches.open();
    batches.submit();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  state.counters["us_a_case"] = 1e6 * seconds / repeats / cases;
  state.counters["us_a_launch"] = 1e6 * seconds / repeats / cases / shape.launches;
}

void add(const std::string& name, const Shape& shape, bool reopened = false) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) { measure(state, shape, reopened); })
      ->UseRealTime()
      ->Iterations(repeats)
      ->Unit(benchmark::kMillisecond);
}

// Launches alone, of graphs that are there; whole cases by lanes, waves, twins; and with a batch opened for
// every submit, with graphs and without.
void add_all() {
  const cuda::BatchTuning usual;
  for (const int launches : {1, 3}) {
    for (const unsigned streams : {1u, 4u, 8u, 16u})
      add(fmt::format("{} launches/streams:{}", launches, streams),
          {.launches = launches, .tuning = {usual.lanes, streams, 1, never}});
    for (const unsigned chains : {1u, 4u, 8u, 16u, 32u})
      add(fmt::format("{} launches/chains:{}", launches, chains),
          {.launches = launches, .tuning = {usual.lanes, usual.streams, chains, 1}});
  }
  for (const unsigned chains : {8u, 16u, 32u, 64u, 128u})
    add(fmt::format("3 launches, each 10 times the work/chains:{}", chains),
        {.launches = 3, .times = 10, .tuning = {usual.lanes, usual.streams, chains, 1}});
  for (const unsigned lanes : {1u, 2u, 3u, 4u})
    for (const unsigned chains : {8u, 32u})
      add(fmt::format("whole case of 3 launches/lanes:{}/chains:{}", lanes, chains),
          {.launches = 3, .judged = true, .tuning = {lanes, usual.streams, chains, 1}});
  for (const std::uint32_t wave : {64u, 128u, 256u, 1024u, 2048u})
    add(fmt::format("whole case of 3 launches/wave:{}", wave), {.launches = 3, .judged = true, .wave = wave});
  add("whole case of 3 launches/one in 16 a twin", {.launches = 3, .judged = true, .wave = 512, .twins = 32});
  for (const unsigned lanes : {2u, 3u})
    for (const std::uint32_t wave : {64u, 128u, 256u, 512u, 1024u})
      for (const unsigned worth : {1u, never}) {
        Shape shape{.launches = 3, .judged = true, .wave = wave};
        shape.tuning.lanes = lanes;
        shape.tuning.worth_a_graph = worth;
        add(fmt::format("whole case of 3 launches, opened anew/lanes:{}/wave:{}/{}", lanes, wave,
                        worth == never ? "no graphs" : "graphs"),
            shape, true);
      }
}

} // namespace
} // namespace assay

int main(int argc, char** argv) {
  if (assay::cuda_device_count() == 0) {
    std::fputs("batch_speed: no GPU on this machine\n", stderr);
    return 4;
  }
  benchmark::Initialize(&argc, argv);
  assay::add_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
