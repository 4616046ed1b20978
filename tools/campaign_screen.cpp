#include "tools/campaign_screen.h"

#include "harness/report/table.h"
#include "tools/text.h"

#include <algorithm>
#include <sstream>

namespace assay {

namespace {

struct Totals {
  std::uint64_t cases = 0, blocks_seen = 0, blocks = 0;
  std::size_t findings = 0;
};

Totals totals_of(std::span<const ScreenRow> rows) {
  Totals totals;
  for (const ScreenRow& row : rows) {
    totals.cases += row.kernel->report.cases;
    totals.findings += row.kernel->report.findings.size();
    totals.blocks_seen += row.kernel->blocks_seen;
    totals.blocks += row.kernel->blocks;
  }
  return totals;
}

double rate(std::uint64_t cases, double seconds) {
  return static_cast<double>(cases) / std::max(seconds, 1e-3);
}

std::string left(const Totals& totals, std::size_t kernels, double elapsed, std::optional<double> seconds,
                 std::optional<std::uint64_t> runs) {
  if (seconds) return clock_text(*seconds - elapsed) + " left";
  const std::uint64_t all = runs.value_or(0) * kernels;
  return counted(all - std::min(all, totals.cases), "case") + " left";
}

} // namespace

std::vector<std::string> campaign_screen(std::span<const ScreenRow> rows, double elapsed,
                                         std::optional<double> seconds, std::optional<std::uint64_t> runs) {
  using Align = Table::Align;
  Table table({{""},
               {"kernel"},
               {"cases", Align::right},
               {"cases/s", Align::right},
               {"coverage", Align::right},
               {"worst", Align::right},
               {"findings", Align::right},
               {"last new", Align::right}});
  for (const ScreenRow& row : rows) {
    const KernelSummary& kernel = *row.kernel;
    table.add({row.done      ? "-"
               : row.running ? ">"
                             : "",
               kernel.report.kernel, std::to_string(kernel.report.cases),
               fmt::format("{:.0f}", rate(kernel.report.cases, kernel.report.seconds)),
               fmt::format("{}/{}", kernel.blocks_seen, kernel.blocks), short_number(kernel.worst_ratio),
               std::to_string(kernel.report.findings.size()),
               row.since_news < 0 ? "" : clock_text(row.since_news) + " ago"});
  }
  std::vector<std::string> lines;
  std::istringstream text(table.text());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  lines.erase(lines.begin() + 1); // the rule
  const Totals totals = totals_of(rows);
  lines.push_back(fmt::format("{} of {}: {} cases, {:.0f}/s, {}, {}", clock_text(elapsed),
                              counted(rows.size(), "kernel"), totals.cases, rate(totals.cases, elapsed),
                              counted(totals.findings, "finding"),
                              left(totals, rows.size(), elapsed, seconds, runs)));
  return lines;
}

std::string campaign_line(std::span<const ScreenRow> rows, double elapsed, std::optional<double> seconds,
                          std::optional<std::uint64_t> runs) {
  const Totals totals = totals_of(rows);
  return fmt::format("{}: {} cases, {:.0f}/s, coverage {}/{} blocks, {}, {}",
                     rows.size() == 1 ? rows.front().kernel->report.kernel : counted(rows.size(), "kernel"),
                     totals.cases, rate(totals.cases, elapsed), totals.blocks_seen, totals.blocks,
                     counted(totals.findings, "finding"), left(totals, rows.size(), elapsed, seconds, runs));
}

} // namespace assay
