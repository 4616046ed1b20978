#include "harness/report/quantities.h"
#include "harness/report/table.h"
#include "harness/report/verify.h"
#include "harness/run/describe.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace assay {

namespace {

using Align = Table::Align;

constexpr std::size_t columns = 100;
constexpr std::size_t shown = 12; // entries of a list; the others are counted

// Words of `text` over as many lines as it takes, the first behind `label`, the others under it.
std::string wrapped(const std::string& label, const std::string& text) {
  std::string out, line = label;
  const std::string indent(label.size(), ' ');
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > columns && line.size() > indent.size()) {
      out += line + "\n";
      line = indent;
    }
    if (line.size() > indent.size()) line += " ";
    line += word;
  }
  return out + line + "\n";
}

std::string tensor_text(const VerifyRow& row) { return fmt::format("{} {}", row.name, name_of(row.dtype)); }

std::string row_table(const VerifyReport& report) {
  Table table({{"Tensor"},
               {"Ref/golden", Align::right},
               {"Condition", Align::right},
               {"Target error", Align::right},
               {"Threshold", Align::right},
               {"Gate valid", Align::right},
               {"Verdict"}});
  for (const VerifyRow& row : report.rows) {
    const Gate& gate = row.worst.comparison.gate;
    const bool by_line = gate.lines.ratio > gate.ratio;
    const auto number = [&](double value) { return row.worst.exact ? "exact" : short_number(value); };
    table.add(
        {tensor_text(row), number(gate.reference_error), row.worst.exact ? "-" : short_number(row.condition),
         row.worst.exact
             ? fmt::format("{} wrong", row.worst.mismatches)
             : short_number(told_error(row.worst, by_line ? gate.lines.target_error : gate.target_error)),
         number(by_line ? gate.lines.threshold : gate.threshold),
         fmt::format("{}/{}", row.gates_valid, row.cases), std::string(name_of(row.verdict))});
  }
  return table.empty() ? "no output was judged\n" : table.text(columns);
}

std::string worst_table(const VerifyReport& report) {
  Table table({{"Worst case of"},
               {"Case"},
               {"Ratio", Align::right},
               {"RMS ratio", Align::right},
               {"Bias ULP", Align::right}});
  for (const VerifyRow& row : report.rows)
    table.add({tensor_text(row), case_summary(row.worst_case),
               row.worst.exact ? "-" : short_number(told_ratio(row.worst)),
               row.worst.exact ? "-" : short_number(row.statistics.rms.ratio),
               row.worst.exact ? "-" : fmt::format("{:.3f}", row.statistics.target_bias.mean)});
  return table.empty() ? "" : table.text(columns);
}

std::string findings_text(const VerifyReport& report) {
  std::string text;
  for (const VerifyFinding& found : report.findings) {
    const Finding& finding = found.finding;
    text += wrapped("FAIL  ", fmt::format("{} {}, {} of {}: {}", name_of(finding.signature.kind),
                                          name_of(finding.test_case.dtype),
                                          found.cases == 1 ? "1 case" : fmt::format("{} cases", found.cases),
                                          report.cases, finding.message));
    std::string how = case_summary(finding.test_case);
    if (!finding.confirmation.empty())
      how += fmt::format("; severity {}, {}", short_number(finding.severity), finding.confirmation);
    text += wrapped("      ", how);
  }
  return text;
}

std::string contracts_text(const VerifyReport& report) {
  constexpr std::string_view states[] = {"held", "BROKEN", "not tested"};
  std::string text;
  for (const Contract& contract : report.contracts)
    text += wrapped(text.empty() ? "Contracts  " : "           ",
                    fmt::format("{}: {}, {}", contract.name, states[static_cast<std::size_t>(contract.state)],
                                contract.why));
  return text;
}

std::string fit_text(const Analysis& analysis) {
  std::vector<std::string> lengths, target, legal, mean, condition;
  for (const LengthRow& row : analysis.lengths) {
    lengths.push_back(fmt::format("{:.0f}", row.length));
    target.push_back(short_number(row.target_rms));
    legal.push_back(short_number(row.legal_rms));
    mean.push_back(fmt::format("{:.1e}", row.target_mean));
    condition.push_back(short_number(row.condition));
  }
  if (analysis.lengths.empty() || analysis.lengths.size() > shown) return {};
  const auto line = [](const std::string& label, const std::vector<std::string>& values) {
    std::string text = fmt::format("        {:<16}", label);
    for (const std::string& value : values) text += fmt::format(" {:>9}", value);
    return text + "\n";
  };
  std::string text = line(analysis.dim, lengths) + line("RMS error", target) + line("largest legal", legal) +
                     line("mean over S", mean) + line("condition", condition);
  if (analysis.target_bias.valid)
    text +=
        wrapped("        ", fmt::format("the mean over S goes as T^{:.2f} +- {:.2f} (0: bias, -1/2: noise)",
                                        analysis.target_bias.slope, analysis.target_bias.half_width));
  return text;
}

std::string invalid_gates_text(const VerifyReport& report) {
  std::vector<const InvalidGate*> gates; // the worst verdicts first
  for (const Verdict verdict : {Verdict::fail, Verdict::inconclusive, Verdict::pass_with_limitations})
    for (const InvalidGate& gate : report.invalid_gates)
      if (gate.analysis.verdict == verdict) gates.push_back(&gate);
  std::string text;
  std::size_t count = 0;
  for (const InvalidGate* gate : gates) {
    if (count == 0) text += "\nGates that are not valid, and what their errors follow\n";
    if (count++ >= shown) continue;
    const Analysis& analysis = gate->analysis;
    text += wrapped(fmt::format("  {:<4}", gate->cases),
                    fmt::format("{}, {}: {}; {}", tensor_text(report.rows[gate->row]),
                                case_summary(gate->test_case), name_of(analysis.verdict), analysis.why));
    if (analysis.legal == 0) continue;
    text += wrapped("      ", fmt::format("condition {}, error {} times the threshold, legal orders {} apart",
                                          short_number(analysis.condition), short_number(gate->ratio),
                                          short_number(analysis.spread)));
    if (count <= 3) text += fit_text(analysis);
  }
  if (count > shown) text += fmt::format("  ... and {} more (all of them in --json)\n", count - shown);
  return text;
}

std::string lucky_text(const VerifyReport& report) {
  if (report.lucky.empty()) return {};
  std::string text =
      "\nLucky reference: above the threshold of the reference alone, not of the legal orders\n";
  for (std::size_t i = 0; i < report.lucky.size(); ++i) {
    if (i == shown)
      return text + fmt::format("  ... and {} more (all in --json)\n", report.lucky.size() - shown);
    const VerifyLucky& lucky = report.lucky[i];
    const Violation& violation = lucky.reference.violation;
    text += wrapped(fmt::format("  {:<4}", lucky.cases),
                    fmt::format("{} {} {}, {}: {} times the threshold; {}", name_of(violation.signature.kind),
                                violation.signature.output, name_of(lucky.test_case.dtype),
                                case_summary(lucky.test_case), short_number(violation.ratio),
                                lucky.reference.why));
  }
  return text;
}

std::string tested_text(const VerifyReport& report) {
  std::vector<std::string_view> types, passes;
  for (const DType dtype : report.dtypes) types.push_back(name_of(dtype));
  for (const Pass pass : report.passes) passes.push_back(name_of(pass));
  std::string text = "\n";
  text += wrapped("Tested       ", fmt::format("{} cases: {}; {}", report.cases, fmt::join(passes, ", "),
                                               fmt::join(types, ", ")));
  for (const auto& [name, sizes] : report.sizes)
    text += wrapped("             ", fmt::format("{} = {}", name, fmt::join(sizes, " ")));
  if (!report.params.empty())
    text += wrapped("             ", fmt::format("{}", fmt::join(report.params, ", ")));
  text += wrapped("             ", fmt::format("{}", fmt::join(report.distributions, ", ")));
  text +=
      wrapped("             ", fmt::format("{} cases again under other schedules; {} with strides or offsets",
                                           report.repeated, report.strided));
  for (std::size_t i = 0; i < report.not_covered.size(); ++i)
    text += wrapped(i == 0 ? "Not covered  " : "             ", report.not_covered[i]);
  return text;
}

} // namespace

std::string case_summary(const Case& test_case) {
  std::vector<std::string> sizes, values;
  for (const auto& [name, size] : test_case.dims) sizes.push_back(fmt::format("{}={}", name, size));
  for (const TensorInput& input : test_case.inputs) {
    const std::string& kind = input.distribution.kind;
    std::string text = kind == "normal" || kind == "legal" || kind == "rotary" ? "" : kind;
    if (!input.layout.strides.empty()) text += text.empty() ? "strided" : " strided";
    if (input.layout.offset != 0) text += text.empty() ? "offset" : " offset";
    if (!text.empty()) values.push_back(fmt::format("{} {}", input.tensor, text));
  }
  return fmt::format("{}{}{}", fmt::join(sizes, " "), values.empty() ? "" : "; ", fmt::join(values, ", "));
}

std::string verify_declaration(const Kernel& kernel, int cases) {
  const Tolerance& tolerance = kernel.space().tolerance;
  std::string text = fmt::format("{} ({}) on {}, {} cases. Declared: fudge {}, atol {}, reference_limit {}",
                                 kernel.manifest().name, kernel.op().info().name, kernel.device().name(),
                                 cases, tolerance.fudge, tolerance.atol, tolerance.reference_limit);
  if (tolerance.max_ulp) text += fmt::format(", max_ulp {} ({})", *tolerance.max_ulp, tolerance.evidence);
  if (tolerance.rms_limit) text += fmt::format(", rms_limit {}", *tolerance.rms_limit);
  if (tolerance.flush_subnormals) text += ", flush_subnormals";
  if (!kernel.manifest().deterministic) text += ", not deterministic";
  return wrapped("", text);
}

std::string verify_text(const VerifyReport& report) {
  std::string text = row_table(report) + "\n" + worst_table(report);
  text += invalid_gates_text(report);
  text += lucky_text(report);
  text += "\n" + contracts_text(report) + findings_text(report);
  for (const VerifyRow& row : report.rows)
    if (row.verdict != Verdict::pass)
      text += wrapped(fmt::format("{}: ", tensor_text(row)),
                      fmt::format("{}: {}", name_of(row.verdict), row.why));
  text += fmt::format("{} {} ({:.1f} s)\n", report.kernel, name_of(report.verdict), report.seconds);
  return text + tested_text(report);
}

} // namespace assay
