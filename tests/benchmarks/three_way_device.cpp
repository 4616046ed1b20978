// How many cases a second one process judges on a device, and where the time of a case goes: offset_rmsnorm
// bf16, forward and backward, at three shapes, drawn over the fuzzer's own distributions, suspects and their
// confirmation included; and what coverage of the kernel's blocks adds. `three_way_device cuda` on a machine
// with a GPU, `three_way_device cpu` anywhere.
#include "fuzz/open_device.h"
#include "harness/inputs/fill.h"
#include "harness/run/execute.h"
#include "harness/run/judge.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

template <class T> T value_or_exit(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "three_way_device: {}\n", to_string(result.error()));
  std::exit(exit_code(result.error().kind));
}

// Microseconds of one call, by as many as fit into half a second.
template <class F> double microseconds(F&& f) {
  f();
  const auto begin = Clock::now();
  std::size_t calls = 0;
  double seconds = 0;
  do {
    f();
    ++calls;
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  } while (seconds < 0.5);
  return seconds * 1e6 / static_cast<double>(calls);
}

std::vector<Case> backward_cases(const Kernel& kernel, std::int64_t rows, std::int64_t cols) {
  CaseSpace space = kernel.space();
  space.dtypes = {DType::bf16};
  for (DimRange& dim : space.dims) {
    dim.min = dim.max = dim.name == "rows" ? rows : cols;
    dim.near.clear();
    dim.production.clear();
  }
  std::vector<Case> cases;
  for (Rng rng(1); cases.size() < 256;) {
    Case drawn = draw_case(space, rng);
    if (drawn.pass == Pass::backward) cases.push_back(std::move(drawn));
  }
  return cases;
}

Case usual_case(const std::vector<Case>& cases) {
  return *std::ranges::find_if(cases, [](const Case& c) {
    return c.inputs[0].distribution.kind == "normal" && c.inputs[0].patches.empty();
  });
}

// Microseconds of a whole case of N(0, 1).
double measure(Kernel& kernel, std::int64_t rows, std::int64_t cols) {
  const std::vector<Case> cases = backward_cases(kernel, rows, cols);
  std::size_t judged = 0, suspects = 0, findings = 0;
  const auto begin = Clock::now();
  double seconds = 0;
  do {
    const Judgement judgement = value_or_exit(judge(kernel, cases[judged++ % cases.size()]));
    suspects += judgement.lucky.size();
    findings += judgement.findings.size();
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  } while (seconds < 3);

  const Case one = usual_case(cases);
  const Trial trial = value_or_exit(run_trial(kernel, one));
  Instrument golden;
  golden.number = Instrument::Number::golden;
  const double whole = microseconds([&] { value_or_exit(run_trial(kernel, one)); });
  const double plan = microseconds([&] { value_or_exit(kernel.plan(one)); });
  const double device =
      microseconds([&] { value_or_exit(execute(kernel.device(), trial.plan, trial.inputs, 1)); });
  const double of_golden = microseconds([&] { evaluate_tested(kernel.op(), trial, golden); });
  const double reference = microseconds([&] { evaluate_tested(kernel.op(), trial, {}); });
  fmt::print(
      "{}x{}: {:.0f} cases/s ({} judged, {} suspects, {} findings); one case {:.0f} us: plan {:.0f}, device "
      "{:.0f}, golden {:.0f}, reference {:.0f}, inputs and gates {:.0f}\n",
      rows, cols, static_cast<double>(judged) / seconds, judged, suspects, findings, whole, plan, device,
      of_golden, reference, whole - plan - device - of_golden - reference);
  std::fflush(stdout);
  return whole;
}

} // namespace
} // namespace assay

int main(int argc, char** argv) {
  using namespace assay;
  const auto device = value_or_exit(open_device(argc > 1 ? argv[1] : default_device()));
  const char* manifest = argc > 2 ? argv[2] : "kernels/offset_rmsnorm/kernel.toml";
  KernelOptions options;
  options.element_budget = std::int64_t{1} << 22;
  const auto kernel = value_or_exit(Kernel::load(manifest, *device, options));
  fmt::print("{} on {}\n", manifest, device->name());
  constexpr std::array<std::pair<std::int64_t, std::int64_t>, 3> shapes = {
      {{3, 257}, {8, 4096}, {256, 5120}}};
  std::array<double, shapes.size()> plain{};
  for (std::size_t i = 0; i < shapes.size(); ++i)
    plain[i] = measure(*kernel, shapes[i].first, shapes[i].second);

  device->coverage(); // from now on
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto [rows, cols] = shapes[i];
    const Case one = usual_case(backward_cases(*kernel, rows, cols));
    const double covered = microseconds([&] { value_or_exit(run_trial(*kernel, one)); });
    fmt::print("{}x{} with coverage: one case {:.0f} us, {:+.1f} %\n", rows, cols, covered,
               100 * (covered / plain[i] - 1));
  }
}
