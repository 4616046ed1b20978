#include "harness/report/triage_collect.h"

#include <algorithm>
#include <numeric>

namespace assay {

namespace {

bool is_of_memory(Kind kind) { return kind < Kind::unwritten; }

bool saw(const GroupingFinding& a, const GroupingFinding& b) {
  return std::ranges::find(a.seen_with, to_string(b.signature)) != a.seen_with.end();
}

bool belong_together(const GroupingFinding& a, const GroupingFinding& b) {
  const Signature &s = a.signature, &t = b.signature;
  if (s.kernel != t.kernel) return false;
  if (s == t) return true;
  const bool same_output = s.output == t.output;
  if (saw(a, b) || saw(b, a)) {
    if (is_of_memory(s.kind) || is_of_memory(t.kind) || same_output) return true;
  }
  if (s.pass != t.pass || !a.likeliest || a.likeliest != b.likeliest) return false;
  return same_output || *a.likeliest != Cause::backward_formula;
}

} // namespace

std::vector<std::vector<std::size_t>> group_findings(std::span<const GroupingFinding> findings) {
  std::vector<std::size_t> leader(findings.size());
  std::iota(leader.begin(), leader.end(), std::size_t{0});
  for (std::size_t i = 0; i < findings.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (leader[i] != leader[k] && belong_together(findings[i], findings[k]))
        std::ranges::replace(leader, leader[i], std::size_t{leader[k]});
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t of = 0; of < findings.size(); ++of) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < findings.size(); ++i)
      if (leader[i] == of) members.push_back(i);
    if (members.empty()) continue;
    std::ranges::sort(members, [&](std::size_t a, std::size_t b) {
      const bool memory_a = is_of_memory(findings[a].signature.kind);
      const bool memory_b = is_of_memory(findings[b].signature.kind);
      if (memory_a != memory_b) return memory_a;
      if (findings[a].severity != findings[b].severity) return findings[a].severity > findings[b].severity;
      const Kind kind_a = findings[a].signature.kind, kind_b = findings[b].signature.kind;
      return kind_a != kind_b ? kind_a < kind_b : a < b;
    });
    groups.push_back(std::move(members));
  }
  return groups;
}

} // namespace assay
