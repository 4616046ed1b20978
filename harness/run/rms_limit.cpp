#include "harness/run/rms_limit.h"

#include "harness/run/analysis_samples.h"
#include "harness/run/describe.h"
#include "harness/run/envelope.h"

#include <algorithm>

namespace assay {

std::optional<Finding> rms_finding(const Kernel& kernel, const Case& test_case, const Trial& trial,
                                   std::size_t i) {
  const TensorReport& report = trial.tensors[i];
  if (!test_case.tolerance.rms_limit || report.exact || trial.target[i].empty() ||
      !report.comparison.structure.passed() || !report.gate_valid())
    return std::nullopt;
  const double limit = *test_case.tolerance.rms_limit;
  const RmsErrors rms = rms_errors(comparands_of(trial, i));
  if (rms.target <= limit * rms.reference) return std::nullopt;
  const ErrorSample sample = sample_errors(
      kernel.op(), trial, i,
      envelope_instruments(kernel.op().info(), kernel.manifest(), trial.plan, kernel.approximates()));
  double legal = sample.floor.rms;
  for (const ErrorSummary& summary : sample.legal) legal = std::max(legal, summary.rms);
  if (sample.target.rms <= limit * legal) return std::nullopt;
  Finding finding;
  finding.signature = {kernel.manifest().name, report.pass, report.name, Kind::gate, {}};
  finding.test_case = test_case;
  finding.message =
      fmt::format("the RMS error of {} is {}, above {} times that of every legal evaluation, {}", report.name,
                  value_text(sample.target.rms), limit, value_text(legal));
  finding.ratio = rms.ratio / limit;
  finding.severity = sample.target.rms / (limit * legal);
  finding.threshold = limit * legal;
  finding.confirmation = fmt::format("above the envelope of {} legal evaluations", sample.legal.size());
  finding.tensor = report;
  return finding;
}

} // namespace assay
