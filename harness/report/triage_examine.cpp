#include "harness/report/triage_examine.h"

#include "harness/reduce/minimize.h"
#include "harness/report/error_series.h"
#include "harness/run/suspects.h"

#include <algorithm>

namespace assay {

namespace {

constexpr std::size_t most_samples = 12;

// The fault at other sizes, and the same sizes without it.
void add_samples(Examined& examined, Kernel& kernel, const FailingTrial& own) {
  std::vector<Case> cases = richer_cases(kernel, own.test_case);
  for (const auto& [dim, size] : own.test_case.dims)
    for (const std::int64_t other : {size / 2, 2 * size, 8 * size, 64 * size})
      if (auto sized = resized(kernel, own.test_case, dim, other)) cases.push_back(*std::move(sized));
  for (const Case& one : cases) {
    if (examined.samples.size() >= most_samples) return;
    const auto trial = run_trial(kernel, one);
    if (!trial) continue;
    for (std::size_t i = 0; i < trial->tensors.size(); ++i) {
      if (trial->tensors[i].name != own.report().name || trial->target[i].empty()) continue;
      const bool failed =
          std::ranges::any_of(trial->violations, [&](const Violation& v) { return v.report == i; });
      ErrorSamplePoint point = sample_point(one, *trial, i, failed);
      const bool known = std::ranges::any_of(examined.samples, [&](const ErrorSamplePoint& other) {
        return other.dims == point.dims && other.distribution == point.distribution;
      });
      if (!known) examined.samples.push_back(std::move(point));
    }
  }
}

// The richest case that fails alike tells most.
void take_series(Examined& examined, Kernel& kernel, const std::vector<FailingTrial>& trials) {
  if (trials.empty()) return;
  const FailingTrial& richest = *std::ranges::max_element(
      trials, {}, [](const FailingTrial& one) { return one.trial.target[one.output].size(); });
  examined.map = error_map(richest.trial, richest.output, 64, 32);
  examined.histogram = error_histogram(richest.trial, richest.output);
  for (const FailingTrial& failing : trials)
    examined.samples.push_back(sample_point(failing.test_case, failing.trial, failing.output, true));
  add_samples(examined, kernel, trials.front());
}

} // namespace

Result<Examined> examine_case(const Case& test_case, const std::filesystem::path& file,
                              const std::string& wanted, KernelCache& kernels) {
  ASSAY_TRY(const std::filesystem::path manifest, find_manifest(test_case, file));
  ASSAY_TRY(Kernel* const kernel, kernels.get(manifest));
  ASSAY_TRY(const Judgement judgement, judge(*kernel, test_case, {.mode = JudgeMode::on_this_input}));
  Examined examined;
  examined.kernel = kernel->manifest().name;
  examined.op = kernel->op().info().name;
  examined.elements = elements_off_base(test_case, kernel->space());
  examined.tensors = triage_tensors(judgement);
  const Finding* leading = nullptr;
  for (const Finding& finding : judgement.findings) {
    examined.seen_with.push_back(to_string(finding.signature));
    if (!leading || examined.seen_with.back() == wanted) leading = &finding;
  }
  if (!leading) return examined;
  examined.finding = {leading->signature, leading->message, leading->severity};
  ASSAY_TRY(Diagnosis diagnosis, diagnose(*kernel, *leading));
  examined.suspects = std::move(diagnosis.suspects);
  examined.cleared = std::move(diagnosis.cleared);
  examined.note = std::move(diagnosis.note);
  take_series(examined, *kernel, diagnosis.trials);
  return examined;
}

} // namespace assay
