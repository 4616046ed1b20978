#include "tools/text.h"

#include "harness/report/table.h"
#include "harness/report/text.h"

#include <algorithm>
#include <cmath>

namespace assay {

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::max(seconds, 0.0)));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string finding_text(const CampaignFinding& found, const std::string& program) {
  const Finding& finding = found.finding;
  const Signature& signature = finding.signature;
  std::string dims;
  for (const auto& [name, size] : finding.test_case.dims) dims += fmt::format(" {}={}", name, size);
  return fmt::format("FINDING {} of {}{}{}, {}{}\n"
                     "  {}\n"
                     "  found after {:.1f} s; severity {}; minimized to {} off the base value\n"
                     "  case    {}\n"
                     "  replay  {} replay {}",
                     name_of(signature.kind), name_of(signature.pass), signature.output.empty() ? "" : " ",
                     signature.output, name_of(finding.test_case.dtype), dims, finding.message,
                     found.seconds_to_find, short_number(finding.severity),
                     counted(found.minimized_elements, "element"), found.case_file.string(),
                     shell_quoted(program), shell_quoted(found.case_file.string()));
}

} // namespace assay
