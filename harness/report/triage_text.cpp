#include "harness/report/table.h"
#include "harness/report/text.h"
#include "harness/report/triage.h"

#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>

namespace assay {

namespace {

using Align = Table::Align;

std::string time_text(std::int64_t seconds) {
  if (seconds == 0) return "unknown";
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string head(const TriageGroup& group) {
  const TriageFinding& leading = group.findings.front();
  std::vector<std::string> sizes;
  for (const auto& [name, size] : group.test_case.dims) sizes.push_back(fmt::format("{}={}", name, size));
  std::string text =
      fmt::format("{} {}\n  {}\n  {} ({}), {} {}, {}\n  severity {}; seen {} {}, first {}; minimized to {} "
                  "{} off the base value\n",
                  group.open ? "OPEN" : "FIXED", group.signature, leading.message, group.kernel, group.op,
                  name_of(group.test_case.pass), name_of(group.test_case.dtype), fmt::join(sizes, " "),
                  short_number(leading.severity), group.count, group.count == 1 ? "time" : "times",
                  time_text(group.first_seen), group.minimized_elements,
                  group.minimized_elements == 1 ? "element" : "elements");
  for (std::size_t k = 1; k < group.findings.size(); ++k)
    text += fmt::format("  also   {}{}: {}\n", group.findings[k].signature,
                        group.findings[k].open ? "" : " (fixed)", group.findings[k].message);
  return text;
}

std::string verdicts(const TriageGroup& group) {
  Table table({{"tensor"},
               {"ref/golden", Align::right},
               {"condition", Align::right},
               {"target error", Align::right},
               {"threshold", Align::right},
               {"gate valid"},
               {"verdict"}});
  for (const TriageTensor& row : group.tensors) {
    if (row.exact)
      table.add({row.name, "exact", "", "", "", "", row.verdict});
    else
      table.add({row.name, short_number(row.reference_error), short_number(row.condition),
                 short_number(row.target_error), short_number(row.threshold), row.gate_valid ? "yes" : "no",
                 row.verdict});
  }
  return table.empty() ? std::string() : table.text();
}

std::string group_text(const TriageGroup& group) {
  std::string text = head(group) + verdicts(group);
  if (group.open)
    text += "suspects, 1 is certain\n" + suspects_text(group.suspects, group.cleared, group.note);
  if (group.map) {
    text += fmt::format("error / threshold of {} [{}] ({})\n", group.map->tensor,
                        fmt::join(group.map->shape, ","), heat_strip_key);
    text += heat_strip(*group.map);
  }
  for (const std::string& command : group.commands) text += "  " + command + "\n";
  return text;
}

} // namespace

std::string triage_text(const TriageReport& report) {
  std::string text;
  const auto open = std::ranges::count_if(report.groups, &TriageGroup::open);
  for (const TriageGroup& group : report.groups) text += group_text(group) + "\n";
  for (const std::string& line : report.unread) text += "not read: " + line + "\n";
  text += fmt::format("{}: {} {} open, {} fixed\n", report.folder, open, open == 1 ? "fault" : "faults",
                      std::ssize(report.groups) - open);
  return text;
}

} // namespace assay
