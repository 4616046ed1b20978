#include "harness/report/triage_page.h"

#include "harness/report/svg.h"
#include "harness/report/table.h"
#include "harness/report/triage_pictures.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>

namespace assay {

namespace {

// The policy refuses every request that a page could make, whatever slipped through.
constexpr std::string_view head = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Assay: triage</title>
<style>
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1160px; padding: 12px; font: 15px/1.45 system-ui, sans-serif; color: #1b1f24; background: #fff; }
h1 { font-size: 1.4rem; margin: 0 0 4px; } h2 { font-size: 1rem; margin: 20px 0 6px; }
p { margin: 4px 0; overflow-wrap: anywhere; }
.muted { color: #57606a; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; padding: 4px 10px 4px 0; border-bottom: 1px solid #d8dee4; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td.long { min-width: 16em; overflow-wrap: anywhere; }
td.name { overflow-wrap: anywhere; }
pre { background: #f6f8fa; padding: 8px; overflow-x: auto; font-size: 13px; margin: 4px 0; border-radius: 4px; }
details.group { border: 1px solid #d8dee4; border-radius: 6px; margin: 8px 0; padding: 0 10px; }
details.group[open] { padding-bottom: 12px; }
summary { cursor: pointer; padding: 9px 0; overflow-wrap: anywhere; }
.badge { display: inline-block; border-radius: 9px; padding: 0 8px; font-size: 13px; font-weight: 600; margin-right: 6px; }
.badge.open { background: #ffdcd7; color: #8c1c13; } .badge.fixed { background: #d9f2dd; color: #165c26; }
.filter { display: flex; flex-wrap: wrap; gap: 8px; margin: 10px 0; }
.filter label { border: 1px solid #57606a; border-radius: 6px; padding: 6px 12px; cursor: pointer; }
input.show { position: absolute; opacity: 0; }
#all:checked ~ .filter [for=all], #open:checked ~ .filter [for=open], #fixed:checked ~ .filter [for=fixed] { background: #1b1f24; color: #fff; }
input.show:focus-visible ~ .filter { outline: 2px solid #0969da; }
#open:checked ~ .groups .is-fixed, #fixed:checked ~ .groups .is-open { display: none; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 330px), 1fr)); gap: 16px; }
figure { margin: 0; } figcaption { font-size: 14px; font-weight: 600; }
svg { width: 100%; height: auto; max-width: 540px; display: block; }
svg text { font: 11px system-ui, sans-serif; fill: #1b1f24; }
.axis { stroke: #57606a; } .limit { stroke: #57606a; stroke-dasharray: 4 3; }
.l0 { fill: #eef1f4; } .l1 { fill: #cfe3f5; } .l2 { fill: #8dbde5; } .l3 { fill: #f2b04c; } .l4 { fill: #c5361f; } .l5 { fill: #3b0f4f; }
.target { fill: #c5361f; } .reference { fill: #3f86bf; } .fails { fill: #c5361f; } .passes { fill: #3f86bf; }
.bar { height: 8px; border-radius: 4px; background: #c5361f; min-width: 2px; } .track { width: 90px; background: #eef1f4; border-radius: 4px; }
</style>
</head>
<body>
)";

constexpr std::size_t most_kernels_shown = 12;

std::string number(double value) { return escape_html(short_number(value)); }

std::string when(std::int64_t seconds) {
  if (seconds <= 0) return "";
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

std::string count_text(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string badge(bool open) {
  return open ? R"(<span class="badge open">open</span>)" : R"(<span class="badge fixed">fixed</span>)";
}

std::string figure(const char* caption, const std::string& svg) {
  return fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", caption, svg);
}

std::string verdict_table(const TriageGroup& group) {
  if (group.tensors.empty()) return ""; // it was stopped before it had outputs
  std::string text =
      "<h2>Verdict of the minimized case</h2>\n<div class=\"wide\"><table "
      "class=\"verdicts\"><tr><th>tensor</th>"
      "<th>type</th><th class=\"n\">ref/golden</th><th class=\"n\">condition</th><th class=\"n\">target error"
      "</th><th class=\"n\">threshold</th><th class=\"n\">ratio</th><th>gate valid</th><th>verdict</th>"
      "<th>worst element</th></tr>\n";
  for (const TriageTensor& tensor : group.tensors)
    text += fmt::format(
        "<tr><td>{} {}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td><td "
        "class=\"long\">{}</td></tr>\n",
        name_of(tensor.pass), escape_html(tensor.name), escape_html(tensor.dtype),
        number(tensor.reference_error), number(tensor.condition), number(tensor.target_error),
        number(tensor.threshold), number(tensor.ratio),
        tensor.exact        ? "exact"
        : tensor.gate_valid ? "yes"
                            : "no",
        escape_html(tensor.verdict), escape_html(tensor.worst));
  return text + "</table></div>\n";
}

std::string suspects(const TriageGroup& group) {
  std::string text = "<h2>Suspects</h2>\n";
  if (!group.suspects.empty()) {
    text += "<div class=\"wide\"><table class=\"suspects\">\n";
    for (const CauseEvidence& suspect : group.suspects)
      text += fmt::format("<tr><td>{}</td><td><div class=\"track\"><div class=\"bar\" "
                          "style=\"width:{:.0f}%\"></div></div></td>"
                          "<td class=\"n\">{:.2f}</td><td class=\"long\">{}</td></tr>\n",
                          escape_html(name_of(suspect.cause)), 100 * std::clamp(suspect.score, 0.0, 1.0),
                          suspect.score, escape_html(suspect.evidence));
    text += "</table></div>\n";
  }
  if (!group.note.empty()) text += fmt::format("<p>{}</p>\n", escape_html(group.note));
  if (group.cleared.empty()) return text;
  text += fmt::format("<details><summary>{} cleared</summary><table>\n", group.cleared.size());
  for (const CauseEvidence& suspect : group.cleared)
    text += fmt::format("<tr><td>{}</td><td class=\"long\">{}</td></tr>\n",
                        escape_html(name_of(suspect.cause)), escape_html(suspect.evidence));
  return text + "</table></details>\n";
}

std::string pictures(const TriageGroup& group) {
  std::string text = "<div class=\"pictures\">\n";
  if (group.map) text += figure("Where the error sits", draw_heat_map(*group.map));
  if (group.map) text += figure("Target and reference errors", draw_histogram(group.histogram));
  if (!group.samples.empty()) {
    text += figure("Error and shape", draw_error_by_shape(group.samples));
    text += figure("Error and distribution", draw_error_by_distribution(group.samples));
  }
  return text + "</div>\n";
}

std::string findings(const TriageGroup& group) {
  std::string text =
      "<h2>Findings</h2>\n<div class=\"wide\"><table "
      "class=\"findings\"><tr><th></th><th>kind</th><th>signature</th>"
      "<th class=\"n\">severity</th><th class=\"n\">hits</th><th>first seen</th><th>last seen</th></tr>\n";
  for (const TriageFinding& finding : group.findings)
    text +=
        fmt::format("<tr><td>{}</td><td>{}</td><td class=\"long\">{}<br><span class=\"muted\">{}</span></td>"
                    "<td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td></tr>\n",
                    badge(finding.open), name_of(finding.kind), escape_html(finding.signature),
                    escape_html(finding.message), number(finding.severity),
                    finding.hits > 0 ? std::to_string(finding.hits) : "", when(finding.first_seen),
                    when(finding.last_seen));
  return text + "</table></div>\n";
}

std::string commands(const TriageGroup& group) {
  std::string lines;
  for (const std::string& command : group.commands) lines += command + "\n";
  return fmt::format("<h2>What to run</h2>\n<pre class=\"commands\">{}</pre>\n<h2>The minimized case, {} off "
                     "the base value</h2>\n"
                     "<pre class=\"case\">{}</pre>\n",
                     escape_html(lines), count_text(group.minimized_elements, "element"),
                     escape_html(to_text(group.test_case)));
}

std::string group_section(const TriageGroup& group, std::size_t index) {
  const TriageFinding* leading = group.findings.empty() ? nullptr : &group.findings.front();
  std::string text = fmt::format(
      "<details class=\"group is-{}\" id=\"g-{}\"{}>\n<summary>{}<b>{}</b> <span class=\"muted\">{}, {}"
      "{}{}</span></summary>\n",
      group.open ? "open" : "fixed", index + 1, index == 0 ? " open" : "", badge(group.open),
      escape_html(group.signature), escape_html(group.op), count_text(group.count, "hit"),
      leading != nullptr ? ", severity " + number(leading->severity) : "",
      group.suspects.empty() ? "" : ", " + escape_html(name_of(group.suspects.front().cause)));
  // The target of links lies inside: a browser opens what is closed around it.
  text += fmt::format("<div id=\"group-{}\">\n", index + 1);
  if (leading != nullptr) text += fmt::format("<p>{}</p>\n", escape_html(leading->message));
  const std::string first = when(group.first_seen), last = when(group.last_seen);
  if (!first.empty()) text += fmt::format("<p class=\"muted\">first seen {}, last {}</p>\n", first, last);
  return text + pictures(group) + suspects(group) + verdict_table(group) + findings(group) + commands(group) +
         "</div></details>\n";
}

struct Tally {
  std::size_t open = 0, fixed = 0;
  std::uint64_t hits = 0;
  std::vector<std::size_t> groups;
};

std::string summary(const TriageReport& report, const Tally& all,
                    const std::map<std::string, Tally>& kernels) {
  std::string text = fmt::format("<h1>Triage of {}</h1>\n<p id=\"counts\">{} open, {} fixed, on {}</p>\n",
                                 escape_html(report.folder), count_text(all.open, "fault"), all.fixed,
                                 escape_html(report.device));
  if (!report.unread.empty()) {
    text += fmt::format("<details open><summary>{} could not be read or run</summary><ul>\n",
                        count_text(report.unread.size(), "case"));
    for (const std::string& line : report.unread) text += fmt::format("<li>{}</li>\n", escape_html(line));
    text += "</ul></details>\n";
  }
  if (kernels.empty()) return text + "<p>Nothing is wrong in it.</p>\n";
  // After a night over many kernels the faults come first; their list by kernel is a tap away.
  text += fmt::format(
      "<details{}><summary>{}</summary>\n<div class=\"wide\"><table id=\"kernels\"><tr><th>kernel"
      "</th><th>faults</th><th class=\"n\">open</th><th class=\"n\">fixed</th><th class=\"n\">hits"
      "</th></tr>\n",
      kernels.size() > most_kernels_shown ? "" : " open", count_text(kernels.size(), "kernel"));
  for (const auto& [kernel, tally] : kernels) {
    std::string links;
    for (const std::size_t group : tally.groups)
      links += fmt::format("<a href=\"#group-{}\">{}</a> ", group + 1, group + 1);
    text += fmt::format(
        "<tr><td class=\"name\">{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td></tr>\n",
        escape_html(kernel), links, tally.open, tally.fixed, tally.hits);
  }
  return text + "</table></div></details>\n";
}

} // namespace

std::string triage_page(const TriageReport& report) {
  Tally all;
  std::map<std::string, Tally> kernels;
  for (std::size_t i = 0; i < report.groups.size(); ++i) {
    const TriageGroup& group = report.groups[i];
    for (Tally* tally : {&all, &kernels[group.kernel]}) {
      ++(group.open ? tally->open : tally->fixed);
      tally->hits += group.count;
      tally->groups.push_back(i);
    }
  }
  std::string page(head);
  page += summary(report, all, kernels);
  if (!report.groups.empty())
    page += fmt::format(
        "<input class=\"show\" type=\"radio\" name=\"show\" id=\"all\" checked><input class=\"show\" "
        "type=\"radio\" "
        "name=\"show\" id=\"open\"><input class=\"show\" type=\"radio\" name=\"show\" id=\"fixed\">\n"
        "<div class=\"filter\"><label for=\"all\">all {}</label><label for=\"open\">open {}</label>"
        "<label for=\"fixed\">fixed {}</label></div>\n<main class=\"groups\">\n",
        report.groups.size(), all.open, all.fixed);
  for (std::size_t i = 0; i < report.groups.size(); ++i) page += group_section(report.groups[i], i);
  if (!report.groups.empty()) page += "</main>\n";
  return page + "</body>\n</html>\n";
}

} // namespace assay
