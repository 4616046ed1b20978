// assay bench: how long a kernel takes at its production sizes, once verify has passed it.
#include "fuzz/open_device.h"
#include "harness/base/since.h"
#include "harness/device/launch_timer.h"
#include "harness/inputs/legal.h"
#include "harness/inputs/shapes.h"
#include "harness/report/verify.h"
#include "harness/run/execute.h"
#include "harness/run/failing.h"
#include "harness/run/verify.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/console.h"
#include "tools/manifest_path.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

namespace assay {

namespace {

constexpr int runs_at_once = 50; // that a device times by itself

struct BenchArguments {
  std::string kernel, device;
  double seconds = 0.5;
};

// One type and pass at production sizes.
struct Timed {
  std::string name;
  Trial trial;             // right, or it would not be here
  std::uint64_t bytes = 0; // inputs read and outputs written, each once
};

std::uint64_t bytes_of(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const PlannedTensor& tensor : plan.tensors) {
    const Role role = tensor.info->role;
    const bool read = role == Role::input || role == Role::upstream;
    if (!tensor.present || (!read && !tensor.tested)) continue;
    std::uint64_t count = size_of(tensor.dtype);
    for (const std::int64_t size : tensor.shape) count *= static_cast<std::uint64_t>(size);
    bytes += count;
  }
  return bytes;
}

// Every dim at its first production size, else its largest tile, else 64, as far as memory and budgets allow.
Result<Case> production_case(const Kernel& kernel, DType dtype, Pass pass) {
  const CaseSpace& space = kernel.space();
  Case test_case;
  test_case.manifest = space.manifest;
  test_case.dtype = dtype;
  test_case.pass = pass;
  test_case.tolerance = space.tolerance;
  Dims dims;
  for (const DimRange& range : space.dims) {
    const std::int64_t size = !range.production.empty() ? range.production.front()
                              : !range.near.empty()     ? range.near.back()
                                                        : 64;
    dims.emplace_back(range.name, legal_size(range, size));
  }
  if (!fit_budgets(dims, space))
    return user_error({space.manifest}, "its smallest sizes exceed what one case may take");
  test_case.dims = dims;
  ASSAY_TRY(test_case, repair(std::move(test_case), space));
  return with_usual_inputs(kernel, std::move(test_case));
}

Result<std::vector<Timed>> timed_cases(Kernel& kernel) {
  std::vector<Timed> all;
  for (const DType dtype : kernel.space().dtypes)
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      if (pass == Pass::backward && !kernel.space().has_backward) continue;
      ASSAY_TRY(const Case test_case, production_case(kernel, dtype, pass));
      Timed timed;
      ASSAY_TRY(timed.trial, run_trial(kernel, test_case));
      timed.name = fmt::format("{} {} {}", kernel.manifest().name, name_of(pass), name_of(dtype));
      for (const auto& [name, size] : test_case.dims) timed.name += fmt::format(" {}={}", name, size);
      timed.bytes = bytes_of(timed.trial.plan);
      all.push_back(std::move(timed));
    }
  return all;
}

// On a device with a clock of its own each iteration is one run by that clock; else the wall around it.
void measure(benchmark::State& state, Device& device, const Timed& timed, double copy_bandwidth) {
  auto* const timer = dynamic_cast<LaunchTimer*>(&device);
  const auto prepared = prepare(device, timed.trial.plan, timed.trial.inputs, 0);
  if (!prepared) return state.SkipWithError(to_string(prepared.error()).c_str());
  double total = 0;
  std::vector<double> measured; // by the device's clock, not yet handed on
  for ([[maybe_unused]] auto _ : state) {
    double seconds = 0;
    if (timer) {
      if (measured.empty()) {
        auto times = timer->time_launches(*timed.trial.plan.program, prepared->launches, runs_at_once);
        if (!times) return state.SkipWithError(to_string(times.error()).c_str());
        measured = *std::move(times);
      }
      seconds = measured.back();
      measured.pop_back();
    } else {
      const auto begin = std::chrono::steady_clock::now();
      for (const LaunchSpec& launch : prepared->launches) {
        const auto report = device.launch(*timed.trial.plan.program, launch);
        if (!report) return state.SkipWithError(to_string(report.error()).c_str());
      }
      seconds = since(begin);
    }
    state.SetIterationTime(seconds);
    total += seconds;
  }
  const double bytes = static_cast<double>(timed.bytes) * static_cast<double>(state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  if (copy_bandwidth > 0 && total > 0) state.counters["of_copy"] = bytes / total / copy_bandwidth;
}

// Nothing is timed that is not right: exit code of the verdict, or 0 to go on.
Result<int> verified(Kernel& kernel, Console& console) {
  const VerifyCases cases = verify_cases(kernel.space());
  ASSAY_TRY(const VerifyReport report,
            verify(kernel, cases, [&](int done, int planned, const std::string& what) {
              if (console.progress_due())
                console.progress(fmt::format("verify first: {} {} of {}", what, done + 1, planned));
            }));
  console.clear();
  fmt::print("verify: {} ({} cases, {:.1f} s)\n", name_of(report.verdict), report.cases, report.seconds);
  const int code = exit_code(report.verdict);
  if (code != 0)
    fmt::print("{}nothing is timed: performance of wrong numbers means nothing\n", verify_text(report));
  return code;
}

Outcome run_bench(const BenchArguments& arguments) {
  ASSAY_TRY(const std::filesystem::path manifest, resolve_manifest(arguments.kernel));
  ASSAY_TRY(const auto device, open_device(arguments.device.empty() ? default_device() : arguments.device));
  ASSAY_TRY(const auto kernel, Kernel::load(manifest, *device, {.named_by_user = true}));
  Console console;
  ASSAY_TRY(const int code, verified(*kernel, console));
  if (code != 0) return code;
  ASSAY_TRY(const std::vector<Timed> all, timed_cases(*kernel));
  double copy_bandwidth = 0;
  if (auto* const timer = dynamic_cast<LaunchTimer*>(device.get())) {
    ASSAY_TRY(copy_bandwidth, timer->copy_bandwidth());
    fmt::print("{}: device time by events; a copy attains {:.0f} GB/s, of_copy is the share of it\n",
               device->name(), copy_bandwidth / 1e9);
  } else {
    fmt::print(
        "{}: this machine's time for the kernel's PTX with every access checked; it says nothing of a GPU\n",
        device->name());
  }
  fmt::print("bytes: inputs read and outputs written, each once\n");
  std::fflush(stdout);
  for (const Timed& timed : all)
    benchmark::RegisterBenchmark(
        timed.name.c_str(), [&](benchmark::State& state) { measure(state, *device, timed, copy_bandwidth); })
        ->UseManualTime()
        ->MinTime(arguments.seconds)
        ->Unit(benchmark::kMicrosecond);
  benchmark::ConsoleReporter reporter(benchmark::ConsoleReporter::OO_Tabular);
  std::ostringstream machine; // its processor and how the library was built: nothing that bears on a kernel
  reporter.SetErrorStream(&machine);
  const std::size_t ran = benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::ClearRegisteredBenchmarks();
  if (ran != all.size()) return environment_error({}, "{} of {} measurements were made", ran, all.size());
  return 0;
}

} // namespace

void add_bench(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* bench = app.add_subcommand(
      "bench", "how long a kernel takes at its production sizes; refuses until verify passes it");
  bench->add_option("kernel", arguments->kernel, "a manifest, or the name of a folder below kernels/")
      ->option_text("KERNEL.toml")
      ->required();
  add_device(*bench, arguments->device);
  bench->add_option("--seconds", arguments->seconds, "how long each measurement takes at least; 0.5")
      ->check([](const std::string& text) -> std::string {
        const double seconds = std::strtod(text.c_str(), nullptr); // NaN is in no range
        return seconds >= 0.01 && seconds <= 600 ? "" : fmt::format("{} is not within 0.01 and 600", text);
      })
      ->option_text("N");
  bench->footer("Example: assay bench kernels/softmax/kernel.toml --seconds 2");
  bench->callback([arguments, &invocation] { invocation.outcome = run_bench(*arguments); });
}

} // namespace assay
