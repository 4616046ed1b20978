#include "harness/report/github.h"

#include <string_view>

namespace assay {

namespace {

// What has a meaning in a command is written as a percent escape; a property ends at a colon or a comma, too.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    if (special)
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

std::string annotation(std::string_view command, const Place& place, std::string_view title,
                       std::string_view message) {
  std::string properties = "file=" + escaped(place.file, true);
  if (place.line > 0) properties += fmt::format(",line={}", place.line);
  return fmt::format("::{} {},title={}::{}\n", command, properties, escaped(title, true),
                     escaped(message, false));
}

// Of the fault behind the first finding; empty where it has none.
Place source_line(const Judgement& judgement) {
  if (judgement.findings.empty() || judgement.findings.front().faults.empty()) return {};
  return judgement.findings.front().faults.front().place;
}

} // namespace

std::string github_annotations(std::span<const ReplayOutcome> outcomes) {
  std::string text;
  for (const ReplayOutcome& outcome : outcomes) {
    const Place own{outcome.file.string(), outcome.line, 0};
    if (outcome.status == ReplayStatus::passed) {
      for (const std::string& note : outcome.notes) text += annotation("notice", own, "assay replay", note);
      continue;
    }
    const Place source = outcome.status == ReplayStatus::failed ? source_line(outcome.judgement) : Place{};
    const bool at_source = !source.file.empty();
    std::string why = outcome.why;
    if (at_source) why += "; replay " + outcome.file.string();
    for (const std::string& note : outcome.notes) why += "; " + note;
    text += annotation("error", at_source ? source : own,
                       fmt::format("assay replay: {}", name_of(outcome.status)), why);
  }
  return text;
}

} // namespace assay
