// What people read: findings of a campaign, the outcome of a replay, one case in full.
#pragma once

#include "harness/report/json.h"
#include "harness/report/triage.h"
#include "harness/run/judge.h"
#include "harness/run/replay.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// A campaign's last words: a line of counts, then a table of findings with the command that replays each, or
// "no finding".
std::string campaign_text(const CampaignReport& report);

// One line a case that is not as expected, its notes, then the counts.
std::string replay_text(std::span<const ReplayOutcome> outcomes);

// One case in full: what it is, its tensors, every quantity of every output beside its threshold, the
// verdict, and a picture of where in the tensor the error sits.
std::string explain_text(const Case& test_case, const Kernel& kernel, const Judgement& judgement);

// The suspects of a failing case, each with its evidence, then those that were cleared; or that none fits.
std::string suspects_text(const std::vector<CauseEvidence>& suspects,
                          const std::vector<CauseEvidence>& cleared, const std::string& note);

// Where in a tensor the errors sit: a strip or a grid; each character is one cell of the map: ' ' 0, '.'
// below a quarter of the threshold, '-' below it, '+' below 4 times, '#' above, '!' not finite where the
// golden is (or the reverse). Axes are labelled with element ranges.
std::string heat_strip(const ErrorMap& map);
// What its characters mean, in a few words.
inline constexpr const char* heat_strip_key =
    "'.' < 1/4, '-' <= 1, '+' < 4, '#' more, '!' NaN or infinity misplaced";

// Lines of at most 100 columns, each behind `indent` spaces; words are not cut.
std::string wrapped(const std::string& text, std::size_t indent);

// A word as a shell takes it, in quotes where it needs them: for commands that are printed.
std::string shell_quoted(std::string_view word);

} // namespace assay
