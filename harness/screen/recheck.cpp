#include "harness/screen/recheck.h"

#include "harness/base/since.h"
#include "harness/screen/agreement.h"

#include <algorithm>
#include <chrono>

namespace assay {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double most_saved = 1;            // seconds of an account, so that quiet times pay for no storm
constexpr std::uint32_t screens_again = 16; // of a case about which the two contradict each other
constexpr int trials_again = 2;

} // namespace

std::optional<Judgement> Recheck::timed(const Case& test_case, double& account, const JudgeCase& judge_case) {
  const auto begin = Clock::now();
  auto judgement = judge_case(test_case);
  const double seconds = since(begin);
  account -= seconds;
  counts_.seconds += seconds;
  return judgement;
}

// A kernel may give one result today and another tomorrow, and that is a finding of the kernel's; only what
// both sides say again and again is a contradiction.
Result<std::optional<Disagreement>> Recheck::compare(const Burst& burst, const ScreenedCase& screened,
                                                     const Case& test_case, const Trial& trial) {
  const auto message = contradiction(kernel_, screened, burst.facts, trial);
  if (!message) return std::nullopt;
  const auto again = screen_.repeat(test_case, screens_again);
  if (!again) return std::nullopt;
  for (int i = 0; i < trials_again; ++i) {
    ASSAY_TRY(const Trial once_more, run_trial(kernel_, test_case));
    for (const ScreenedCase& each : *again)
      if (!contradiction(kernel_, each, burst.facts, once_more)) return std::nullopt;
  }
  return Disagreement{test_case, *message};
}

Result<std::optional<Disagreement>> Recheck::look_at(const Burst& burst, const Judgement& of_parent,
                                                     double seconds, const JudgeCase& judge_case) {
  const double most = std::max(most_saved, 2 * seconds);
  const double paying = std::min(burst.seconds, std::max(case_times * seconds, short_burst));
  for_flagged_ = std::min(for_flagged_ + flagged_share * paying, most);
  for_sample_ = std::min(for_sample_ + sample_share * paying, most);
  if (burst.parent()) {
    ++counts_.parents;
    ASSAY_TRY(auto found, compare(burst, *burst.parent(), burst.neighbours().parent(), of_parent.trial));
    if (found) return found;
  }
  std::uint64_t judged = 0;
  const auto leave = [&] { counts_.unjudged += burst.flagged() - judged; };
  for (const Burst::Flagged* alike : burst.by_weight()) {
    const std::size_t looks = std::min(most_of_a_pattern, alike->kept.size());
    for (std::size_t i = 0; i < looks; ++i) {
      const bool news = alike->kept[i].is_fault() && !looked_at_.contains(alike->kept[i].pattern());
      if (!news && for_flagged_ < seconds) break;
      looked_at_.insert(alike->kept[i].pattern());
      if (!timed(burst.case_of(alike->kept[i]), for_flagged_, judge_case)) {
        leave();
        return std::nullopt;
      }
      ++judged;
      ++counts_.flagged;
    }
  }
  leave();
  for (const ScreenedCase& screened : burst.sample()) {
    if (for_sample_ < seconds) break;
    const Case test_case = burst.case_of(screened);
    const auto judgement = timed(test_case, for_sample_, judge_case);
    if (!judgement) break;
    ++counts_.sampled;
    ASSAY_TRY(auto found, compare(burst, screened, test_case, judgement->trial));
    if (found) return found;
  }
  return std::nullopt;
}

} // namespace assay
