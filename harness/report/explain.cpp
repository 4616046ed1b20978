#include "harness/report/error_series.h"
#include "harness/report/quantities.h"
#include "harness/report/table.h"
#include "harness/report/text.h"
#include "harness/run/describe.h"
#include "harness/run/execute.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

using Align = Table::Align;

std::string head(const Case& test_case, const Kernel& kernel) {
  std::vector<std::string> sizes;
  for (const auto& [name, size] : test_case.dims) sizes.push_back(fmt::format("{}={}", name, size));
  for (const auto& [name, value] : test_case.params) sizes.push_back(fmt::format("{}={}", name, value));
  std::string text = fmt::format("{} ({}), {} {}, {}\n", kernel.manifest().name, kernel.op().info().name,
                                 name_of(test_case.pass), name_of(test_case.dtype), fmt::join(sizes, " "));
  const Tolerance& tolerance = test_case.tolerance;
  text += fmt::format("tolerance: fudge {}, atol {}, reference_limit {}", tolerance.fudge, tolerance.atol,
                      tolerance.reference_limit);
  if (tolerance.max_ulp) text += fmt::format(", max_ulp {} ({})", *tolerance.max_ulp, tolerance.evidence);
  if (tolerance.rms_limit) text += fmt::format(", rms_limit {}", *tolerance.rms_limit);
  if (tolerance.flush_subnormals) text += ", flush_subnormals";
  return text + "\n";
}

std::string inputs(const Case& test_case, const Trial& trial) {
  Table table({{"input"}, {"type"}, {"shape"}, {"values"}});
  for (std::size_t i = 0; i < trial.plan.tensors.size(); ++i) {
    const PlannedTensor& tensor = trial.plan.tensors[i];
    const auto input = std::ranges::find(test_case.inputs, tensor.info->name, &TensorInput::tensor);
    if (input == test_case.inputs.end() || !tensor.present) continue;
    std::string values = fmt::format("{} seed {}", to_text(input->distribution), input->seed);
    if (!input->patches.empty()) values += fmt::format(", {} line patches", input->patches.size());
    if (!input->overrides.empty()) values += fmt::format(", {} elements given", input->overrides.size());
    if (!input->layout.strides.empty())
      values += fmt::format(", strides {}", fmt::join(input->layout.strides, ","));
    if (input->layout.offset != 0) values += fmt::format(", offset {}", input->layout.offset);
    table.add({tensor.info->name, std::string(name_of(tensor.dtype)),
               fmt::format("[{}]", fmt::join(tensor.shape, ",")), std::move(values)});
  }
  return table.text();
}

std::string launches(const Case& test_case, const Plan& plan) {
  std::string text;
  for (const PlannedLaunch& launch : plan.launches)
    text += fmt::format("launch {} {}: grid {},{},{} block {},{},{}{}\n", name_of(launch.pass), launch.name,
                        launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y,
                        launch.block.z,
                        launch.shared_bytes > 0 ? fmt::format(" shared {} bytes", launch.shared_bytes) : "");
  if (runs_twice(plan, test_case.schedule_seed))
    text += "launched twice: variables of the module are as the first time left them, buffers are not\n";
  return text;
}

std::string quantities(const Trial& trial) {
  Table table({{"output"},
               {"ref/golden", Align::right},
               {"condition", Align::right},
               {"target error", Align::right},
               {"threshold", Align::right},
               {"ratio", Align::right},
               {"rms ratio", Align::right},
               {"bias ulp", Align::right},
               {"gate valid"}});
  for (std::size_t i = 0; i < trial.tensors.size(); ++i) {
    const TensorReport& report = trial.tensors[i];
    if (report.exact || trial.target[i].empty()) continue;
    const Gate& gate = report.comparison.gate;
    const TensorStatistics statistics = statistics_of(trial, i);
    double condition = 1;
    if (gate.worst_element >= 0 && !trial.golden[i].magnitude.empty()) {
      const auto at = static_cast<std::size_t>(gate.worst_element);
      condition = trial.golden[i].magnitude[at] / std::abs(trial.golden[i].value[at]);
    }
    table.add({report.name, short_number(gate.reference_error), short_number(condition),
               short_number(told_error(report)), short_number(gate.threshold),
               short_number(told_ratio(report)), short_number(statistics.rms.ratio),
               short_number(statistics.target_bias.mean),
               gate.valid()       ? "yes"
               : gate.conditioned ? "no (golden not exact enough)"
                                  : "no (ill-conditioned)"});
  }
  if (table.empty()) return {};
  return table.text() +
         wrapped(
             "ref/golden: the largest error of the plain formula in the kernel's own precision. condition: "
             "sum of magnitudes over the result. threshold: fudge times ref/golden, and the rounding of "
             "the output. ratio: target error over threshold, of the whole tensor or its worst line; "
             "above 1 is a suspect. rms ratio: of the target's error to the reference's. bias ulp: mean "
             "error away from zero, in last places.",
             0);
}

// Whether a finding's message tells the output's worst element already.
bool is_told(const Judgement& judgement, const TensorReport& report) {
  return std::ranges::any_of(judgement.findings, [&](const Finding& finding) {
    return finding.signature.output == report.name && finding.element == report.worst;
  });
}

std::string pictures(const Judgement& judgement) {
  const Trial& trial = judgement.trial;
  std::string text;
  for (std::size_t i = 0; i < trial.tensors.size(); ++i) {
    const TensorReport& report = trial.tensors[i];
    if (trial.target[i].empty()) continue;
    if (report.worst >= 0 && !is_told(judgement, report))
      text += fmt::format("worst {} = {}, golden {}, reference {}\n",
                          element_text(report.name, report.shape, report.worst), value_text(report.target),
                          value_text(report.golden), value_text(report.reference));
    text += fmt::format("error / threshold of {} ({})\n", report.name, heat_strip_key);
    text += heat_strip(error_map(trial, i));
  }
  return text;
}

// Where no right kernel errs at all, severity counts last places of the output.
std::string severity_text(const Finding& finding) {
  if (finding.signature.kind == Kind::structure)
    return finding.tensor
               ? fmt::format("no right kernel has {} here, where the golden is {}",
                             value_text(finding.tensor->target), value_text(finding.tensor->golden))
               : std::string("no right kernel has NaN or infinity here");
  if (finding.threshold > 0)
    return fmt::format("severity {}: the error over the {} that right kernels reach",
                       short_number(finding.severity), short_number(finding.threshold));
  return fmt::format("right kernels are exact here; off by {} last places", short_number(finding.severity));
}

std::string verdict(const Judgement& judgement) {
  std::string text;
  for (const Fault& fault : judgement.trial.faults)
    text += fmt::format("{} {}{}: {}{}\n", fault.note ? "note" : "fault", name_of(fault.kind),
                        fault.buffer.empty() ? "" : " in " + fault.buffer, fault.message,
                        fault.place.file.empty() ? "" : " (" + to_string(fault.place) + ")");
  for (const LuckyReference& lucky : judgement.lucky)
    text += fmt::format("lucky reference {}: {} times the threshold, but {} (severity {})\n",
                        to_string(lucky.violation.signature), short_number(lucky.violation.ratio), lucky.why,
                        short_number(lucky.severity));
  for (const Finding& finding : judgement.findings) {
    text += fmt::format("FAIL {}\n  {}\n", to_string(finding.signature), finding.message);
    if (!finding.confirmation.empty())
      text += fmt::format("  confirmed: {}\n  {}\n", finding.confirmation, severity_text(finding));
  }
  if (judgement.findings.empty())
    text += judgement.inconclusive ? "INCONCLUSIVE: the gate is not valid on this input\n"
                                   : "PASS on this input\n";
  return text;
}

} // namespace

std::string suspects_text(const std::vector<CauseEvidence>& suspects,
                          const std::vector<CauseEvidence>& cleared, const std::string& note) {
  std::string text;
  for (const CauseEvidence& one : suspects)
    text += fmt::format("{:4.2f}  {}\n{}", one.score, name_of(one.cause), wrapped(one.evidence, 6));
  if (!note.empty()) text += wrapped(note, 0);
  for (const CauseEvidence& one : cleared)
    text += wrapped(fmt::format("cleared, {}: {}", name_of(one.cause), one.evidence), 0);
  return text;
}

std::string explain_text(const Case& test_case, const Kernel& kernel, const Judgement& judgement) {
  const Trial& trial = judgement.trial;
  std::string text =
      head(test_case, kernel) + "\n" + inputs(test_case, trial) + launches(test_case, trial.plan) + "\n";
  if (trial.tensors.empty()) text += "the device stopped before there were numbers\n";
  text += quantities(trial) + pictures(judgement) + "\n" + verdict(judgement);
  if (!kernel.not_tested().empty())
    text += fmt::format("not tested, for no launch takes it: {}\n", fmt::join(kernel.not_tested(), ", "));
  return text;
}

} // namespace assay
