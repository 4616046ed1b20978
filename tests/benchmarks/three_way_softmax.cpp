// How many cases a second one core judges: softmax f32 8x1024 on the CPU device with all checks on, drawn
// over the fuzzer's own distributions, suspects and their confirmation included; and where the time of one
// case goes.
#include "harness/device/cpu/cpu_device.h"
#include "harness/inputs/fill.h"
#include "harness/numerics/gate.h"
#include "harness/run/envelope.h"
#include "harness/run/execute.h"
#include "harness/run/judge.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace assay {
namespace {

template <class T> T value_or_exit(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "three_way_softmax: {}\n", to_string(result.error()));
  std::exit(exit_code(result.error().kind));
}

struct Bench {
  std::unique_ptr<Device> device = value_or_exit(make_cpu_device());
  std::unique_ptr<Kernel> kernel = value_or_exit(Kernel::load(ASSAY_KERNELS "/softmax/kernel.toml", *device));
  std::vector<Case> cases;

  Bench() {
    CaseSpace space = kernel->space();
    space.dtypes = {DType::f32};
    space.has_backward = false;
    for (DimRange& dim : space.dims) {
      dim.min = dim.max = dim.name == "rows" ? 8 : 1024;
      dim.near.clear();
      dim.production.clear();
    }
    Rng rng(1);
    for (int i = 0; i < 1024; ++i) cases.push_back(draw_case(space, rng));
  }
};

Bench& bench() {
  static Bench instance;
  return instance;
}

void judge_drawn_cases(benchmark::State& state) {
  std::size_t next = 0, suspects = 0, findings = 0;
  for (auto _ : state) {
    const Judgement judgement =
        value_or_exit(judge(*bench().kernel, bench().cases[next++ % bench().cases.size()]));
    suspects += judgement.lucky.size();
    findings += judgement.findings.size();
  }
  const auto per_case = [&](std::size_t count) {
    return static_cast<double>(count) / static_cast<double>(state.iterations());
  };
  state.counters["cases"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["suspects"] = per_case(suspects);
  state.counters["findings"] = per_case(findings);
}
BENCHMARK(judge_drawn_cases)->Unit(benchmark::kMicrosecond)->MinTime(3);

// One case of N(0, 1), piece by piece.
Trial normal_trial() {
  for (const Case& test_case : bench().cases)
    if (test_case.inputs[0].distribution.kind == "normal" && test_case.inputs[0].patches.empty())
      return value_or_exit(run_trial(*bench().kernel, test_case));
  return value_or_exit(run_trial(*bench().kernel, bench().cases[0]));
}

const Case& normal_case() {
  for (const Case& test_case : bench().cases)
    if (test_case.inputs[0].distribution.kind == "normal" && test_case.inputs[0].patches.empty())
      return test_case;
  return bench().cases[0];
}

void plan_one(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(value_or_exit(bench().kernel->plan(normal_case())));
}
BENCHMARK(plan_one)->Unit(benchmark::kMicrosecond);

void fill_one(benchmark::State& state) {
  const Trial trial = normal_trial();
  Tensor x;
  for (auto _ : state)
    fill_into(x, normal_case().inputs[0], DType::f32, trial.plan.tensors[0].shape,
              trial.plan.tensors[0].info->domain, normal_case().dims);
}
BENCHMARK(fill_one)->Unit(benchmark::kMicrosecond);

void evaluate_one(benchmark::State& state, Instrument::Number number) {
  const Trial trial = normal_trial();
  Instrument instrument;
  instrument.number = number;
  for (auto _ : state) benchmark::DoNotOptimize(evaluate_tested(bench().kernel->op(), trial, instrument));
}
BENCHMARK_CAPTURE(evaluate_one, golden, Instrument::Number::golden)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(evaluate_one, reference, Instrument::Number::plain)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(evaluate_one, noise, Instrument::Number::noise)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(evaluate_one, rigorous, Instrument::Number::rigorous)->Unit(benchmark::kMicrosecond);

void launch_one(benchmark::State& state) {
  const Trial trial = normal_trial();
  for (auto _ : state)
    benchmark::DoNotOptimize(value_or_exit(execute(bench().kernel->device(), trial.plan, trial.inputs, 1)));
}
BENCHMARK(launch_one)->Unit(benchmark::kMicrosecond);

void gate_one(benchmark::State& state) {
  const Trial trial = normal_trial();
  const GateRule rule = gate_rule(trial, 0, normal_case().tolerance, bench().kernel->op().info());
  for (auto _ : state) benchmark::DoNotOptimize(compare(comparands_of(trial, 0), rule));
}
BENCHMARK(gate_one)->Unit(benchmark::kMicrosecond);

void whole_envelope(benchmark::State& state) {
  const Trial trial = normal_trial();
  const auto instruments =
      envelope_instruments(bench().kernel->op().info(), bench().kernel->manifest(), trial.plan, false);
  for (auto _ : state) {
    Envelope envelope(bench().kernel->op(), trial, instruments);
    while (envelope.widen()) {
    }
  }
  state.counters["instruments"] = static_cast<double>(instruments.size());
}
BENCHMARK(whole_envelope)->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace assay

BENCHMARK_MAIN();
