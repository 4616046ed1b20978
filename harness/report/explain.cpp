#include "harness/report/table.h"
#include "harness/report/text.h"
#include "harness/run/describe.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

std::string launches(const Plan& plan) {
  std::string text;
  for (const PlannedLaunch& launch : plan.launches)
    text += fmt::format("launch {} {}: grid {},{},{} block {},{},{}{}\n", name_of(launch.pass), launch.name,
                        launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y,
                        launch.block.z,
                        launch.shared_bytes > 0 ? fmt::format(" shared {} bytes", launch.shared_bytes) : "");
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
               short_number(gate.target_error), short_number(gate.threshold), short_number(report.ratio()),
               short_number(statistics.rms.ratio), short_number(statistics.target_bias.mean),
               gate.valid()       ? "yes"
               : gate.conditioned ? "no (golden not exact enough)"
                                  : "no (ill-conditioned)"});
  }
  return table.empty() ? std::string() : table.text();
}

// error / threshold an element; not finite where NaN or an infinity is out of place.
std::vector<double> levels_of(const Trial& trial, std::size_t i) {
  const Evaluated& golden = trial.golden[i];
  const std::vector<double>& target = trial.target[i];
  const double threshold = trial.tensors[i].comparison.gate.threshold;
  std::vector<double> levels(target.size());
  for (std::size_t k = 0; k < target.size(); ++k) {
    const double g = golden.value[k], t = target[k];
    if (g == t || (std::isnan(g) && std::isnan(t)) ||
        (!golden.formula_overflows.empty() && golden.formula_overflows[k]))
      continue;
    if (!std::isfinite(g) || !std::isfinite(t))
      levels[k] = std::numeric_limits<double>::infinity();
    else
      levels[k] = threshold > 0 ? std::abs(t - g) / threshold : 1e300;
  }
  return levels;
}

std::string pictures(const Trial& trial) {
  std::string text;
  for (std::size_t i = 0; i < trial.tensors.size(); ++i) {
    const TensorReport& report = trial.tensors[i];
    if (trial.target[i].empty()) continue;
    if (report.worst >= 0)
      text += fmt::format("worst {} = {}, golden {}, reference {}\n",
                          element_text(report.name, report.shape, report.worst), value_text(report.target),
                          value_text(report.golden), value_text(report.reference));
    text += fmt::format(
        "error / threshold of {} ('.' < 1/4, '-' <= 1, '+' < 4, '#' more, '!' NaN or infinity misplaced)\n",
        report.name);
    text += heat_strip(levels_of(trial, i), report.shape);
  }
  return text;
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
      text += fmt::format("  confirmed: {}; severity {}, threshold' {}, rigorous bound {}\n",
                          finding.confirmation, short_number(finding.severity),
                          short_number(finding.threshold), short_number(finding.rigorous_bound));
  }
  if (judgement.findings.empty())
    text += judgement.inconclusive ? "INCONCLUSIVE: the gate is not valid on this input\n"
                                   : "PASS on this input\n";
  return text;
}

} // namespace

std::string explain_text(const Case& test_case, const Kernel& kernel, const Judgement& judgement) {
  const Trial& trial = judgement.trial;
  std::string text = head(test_case, kernel) + "\n" + inputs(test_case, trial) + launches(trial.plan) + "\n";
  if (trial.tensors.empty()) text += "the device stopped before there were numbers\n";
  text += quantities(trial) + pictures(trial) + "\n" + verdict(judgement);
  if (!kernel.not_tested().empty())
    text += fmt::format("not tested, for no launch takes it: {}\n", fmt::join(kernel.not_tested(), ", "));
  return text;
}

} // namespace assay
