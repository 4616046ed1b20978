#include "fuzz/same_fault.h"

#include "harness/run/judge.h"

#include <algorithm>

namespace assay {

namespace {

bool same_output(const Signature& a, const Signature& b) { return a.pass == b.pass && a.output == b.output; }

} // namespace

std::vector<Finding> leading(std::span<const Finding> findings) {
  std::vector<Finding> first;
  for (const Finding& finding : findings)
    if (std::ranges::none_of(
            first, [&](const Finding& earlier) { return same_output(earlier.signature, finding.signature); }))
      first.push_back(finding);
  return first;
}

ShouldKeep shows_same_fault(Kernel& kernel, const Finding& finding) {
  return [&kernel, signature = finding.signature,
          severity = kept_severity(finding.severity)](const Case& candidate) {
    const int repeats = signature.kind == Kind::nondeterministic ? -1 : 0;
    const auto judged = judge(kernel, candidate, {.mode = JudgeMode::on_this_input, .repeats = repeats});
    if (!judged) return false;
    const auto first = std::ranges::find_if(
        judged->findings, [&](const Finding& found) { return same_output(found.signature, signature); });
    return first != judged->findings.end() && first->signature == signature && first->severity >= severity;
  };
}

} // namespace assay
