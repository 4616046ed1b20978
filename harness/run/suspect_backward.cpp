#include "harness/run/describe.h"
#include "harness/run/judge.h"
#include "harness/run/suspect_tests.h"

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

// The forward pass on the same inputs: nullopt where no output of it is tested.
std::optional<bool> forward_passes(Kernel& kernel, Case test_case) {
  test_case.pass = Pass::forward;
  std::erase_if(test_case.inputs, [&](const TensorInput& input) {
    const auto spec = std::ranges::find(kernel.space().inputs, input.tensor, &InputSpec::name);
    return spec != kernel.space().inputs.end() && spec->upstream;
  });
  const auto judged = judge(kernel, test_case, {JudgeMode::on_this_input, 0});
  if (!judged || judged->trial.tensors.empty()) return std::nullopt;
  return judged->findings.empty();
}

} // namespace

std::optional<double> constant_factor(std::span<const FailingTrial> trials) {
  double products = 0, squares = 0;
  std::int64_t elements = 0;
  const auto each = [&](auto visit) {
    for (const FailingTrial& failing : trials) {
      const Comparands comparands = comparands_of(failing.trial, failing.output);
      const Gate& gate = failing.report().comparison.gate;
      for_each_counted(comparands, [&](std::size_t k, double, double) {
        visit(comparands.golden[k], comparands.target[k], std::max(gate.threshold, gate.lines.threshold));
      });
    }
  };
  each([&](double g, double t, double) {
    products += g * t;
    squares += g * g;
    elements += g != 0;
  });
  if (!(squares > 0) || !std::isfinite(products) || elements < 2) return std::nullopt;
  const double factor = products / squares;
  bool explains = std::fabs(factor - 1) > 1e-3;
  each([&](double g, double t, double threshold) {
    if (std::fabs(t - factor * g) > 2 * threshold * std::max(1.0, std::fabs(factor))) explains = false;
  });
  return explains ? std::optional(factor) : std::nullopt;
}

Evidences suspect_backward(const Scene& scene) {
  if (scene.finding.signature.pass == Pass::forward || scene.trials.empty()) return {};
  const auto passes = forward_passes(scene.kernel, scene.trials.front().test_case);
  if (passes && !*passes)
    return {{Cause::backward_formula, 0.1, "the forward pass of the same case is wrong too"}};
  const std::string forward = passes ? "the forward pass of the same case is right; " : "";
  if (const auto factor = constant_factor(scene.trials))
    return {{Cause::backward_formula, 0.96,
             fmt::format("{}{} is {} times the golden everywhere", forward, scene.finding.signature.output,
                         value_text(*factor))}};
  return {{Cause::backward_formula, 0.5,
           fmt::format("{}{} alone is off, by no constant factor", forward, scene.finding.signature.output)}};
}

} // namespace assay
