#include "harness/run/describe.h"
#include "harness/run/suspect_tests.h"

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

constexpr std::uint64_t schedules = 8;

} // namespace

Evidences suspect_order(Kernel& kernel, const Finding& finding) {
  std::vector<std::vector<double>> runs;
  bool all_right = true;
  double threshold = 0;
  const auto take = [&](const Trial& trial) {
    for (std::size_t i = 0; i < trial.tensors.size(); ++i) {
      if (trial.tensors[i].name != finding.signature.output) continue;
      runs.push_back(trial.target[i]);
      threshold = std::max(threshold, trial.tensors[i].comparison.gate.threshold);
      for (const Violation& violation : trial.violations) all_right = all_right && violation.report != i;
    }
  };
  const auto first = run_trial(kernel, finding.test_case);
  if (!first) return {};
  take(*first);
  for (std::uint64_t k = 1; k < schedules; ++k) {
    const auto again = repeat_trial(kernel, finding.test_case, *first, finding.test_case.schedule_seed + k);
    if (again) take(*again);
  }
  if (runs.size() < 2) return {};
  double spread = 0;
  for (const std::vector<double>& run : runs)
    for (std::size_t k = 0; k < std::min(run.size(), runs.front().size()); ++k) {
      if (std::isfinite(run[k]) != std::isfinite(runs.front()[k])) all_right = false;
      if (std::isfinite(run[k]) && std::isfinite(runs.front()[k]))
        spread = std::max(spread, std::fabs(run[k] - runs.front()[k]));
    }
  if (spread == 0)
    return {{Cause::reduction_order, 0, fmt::format("{} runs gave the same bits", runs.size())}};
  if (!all_right)
    return {{Cause::reduction_order, 0.2,
             fmt::format("runs differ by {}, and some are wrong: no order of summing does that",
                         value_text(spread))}};
  return {{Cause::reduction_order, 0.95,
           fmt::format(
               "{} runs under other orders of blocks and warps differ by up to {}, and each is within its "
               "threshold {}{}",
               runs.size(), value_text(spread), value_text(threshold),
               kernel.has_atomics() ? "; the kernel adds with atomics" : "")}};
}

} // namespace assay
