// What people read: findings of a campaign, the outcome of a replay, one case in full.
#pragma once

#include "harness/report/json.h"
#include "harness/run/judge.h"
#include "harness/run/replay.h"

#include <span>
#include <string>

namespace assay {

// A campaign's last words: a line of counts, then a table of findings with the command that replays each, or
// "no finding".
std::string campaign_text(const CampaignReport& report);

// One line a case that is not as expected, its notes, then the counts.
std::string replay_text(std::span<const ReplayOutcome> outcomes);

// One case in full: what it is, its tensors, every quantity of every output beside its threshold, the
// verdict, and a picture of where in the tensor the error sits.
std::string explain_text(const Case& test_case, const Kernel& kernel, const Judgement& judgement);

// Where in a tensor the errors sit: a strip or a grid of at most `width` columns and `height` rows; each
// character is the largest of its elements' levels (error / threshold): ' ' 0, '.' below a quarter, '-' below
// 1, '+' below 4, '#' above, '!' not finite where the golden is (or the reverse). Axes are labelled with
// element ranges.
std::string heat_strip(std::span<const double> levels, std::span<const std::int64_t> shape,
                       std::size_t width = 64, std::size_t height = 16);

} // namespace assay
