#include "harness/report/table.h"
#include "harness/report/text.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace assay {

namespace {

// The source line of kinds that have one, what stands where it must not of wrong structure: "y[0,0] = nan,
// golden 1". Of the other kinds severity says enough.
std::string where(const Finding& finding) {
  if (finding.signature.kind != Kind::structure) return to_string(finding.signature.place);
  return finding.message.substr(0, finding.message.find(", reference"));
}

} // namespace

std::string campaign_text(const CampaignReport& report) {
  std::string text =
      fmt::format("{} on {}: {} cases in {:.1f} s ({:.0f} a second), {} finding{}\n", report.kernel,
                  report.device, report.cases, report.seconds,
                  report.seconds > 0 ? static_cast<double>(report.cases) / report.seconds : 0.0,
                  report.findings.empty() ? "no" : std::to_string(report.findings.size()),
                  report.findings.size() == 1 ? "" : "s");
  text += fmt::format("{} suspect{} not confirmed (the reference was lucky), {} case{} inconclusive (the "
                      "gate is not valid)\n",
                      report.suspects_not_confirmed, report.suspects_not_confirmed == 1 ? "" : "s",
                      report.inconclusive, report.inconclusive == 1 ? "" : "s");
  if (report.screened + report.unjudged > 0)
    text += fmt::format(
        "{} of the cases were plainly clean by the screen on the device; {} more were not, and not "
        "judged either: they do not count\n",
        report.screened, report.unjudged);
  if (!report.not_tested.empty())
    text += fmt::format("not tested, for no launch takes it: {}\n", fmt::join(report.not_tested, ", "));
  if (report.findings.empty()) return text;

  using Align = Table::Align;
  Table table({{"kind"},
               {"pass"},
               {"output"},
               {"type"},
               {"severity", Align::right},
               {"found s", Align::right},
               {"elements", Align::right},
               {"hits", Align::right},
               {"where"}});
  for (const CampaignFinding& found : report.findings) {
    const Signature& signature = found.finding.signature;
    table.add({std::string(name_of(signature.kind)), std::string(name_of(signature.pass)), signature.output,
               std::string(name_of(found.finding.test_case.dtype)), short_number(found.finding.severity),
               fmt::format("{:.1f}", found.seconds_to_find), std::to_string(found.minimized_elements),
               std::to_string(found.hits), where(found.finding)});
  }
  return text + table.text();
}

std::string replay_text(std::span<const ReplayOutcome> outcomes) {
  std::string text;
  std::size_t passed = 0, not_run = 0;
  for (const ReplayOutcome& outcome : outcomes) {
    const bool as_expected = outcome.status == ReplayStatus::passed;
    passed += as_expected;
    not_run += outcome.status == ReplayStatus::error;
    if (outcome.status == ReplayStatus::error && outcome.why.starts_with(outcome.file.string()))
      text += fmt::format("{} {}\n", name_of(outcome.status), outcome.why);
    else if (!as_expected || !outcome.notes.empty() || outcomes.size() == 1)
      text += fmt::format("{} {}: {}\n", name_of(outcome.status), outcome.file.string(), outcome.why);
    for (const std::string& note : outcome.notes) text += fmt::format("  note: {}\n", note);
  }
  text += fmt::format("{} passed, {} failed{}, of {} case{}\n", passed, outcomes.size() - passed,
                      not_run > 0 ? fmt::format(" ({} could not be read or run)", not_run) : "",
                      outcomes.size(), outcomes.size() == 1 ? "" : "s");
  return text;
}

} // namespace assay
