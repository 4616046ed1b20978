#include "fuzz/bursts.h"

#include "harness/base/hash.h"
#include "harness/base/since.h"

#include <algorithm>
#include <chrono>

namespace assay {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t tried_first = 4; // of lost cases, by the host, before the loss is narrowed down
constexpr int narrowed_losses = 3;       // later ones only tell again what is known
constexpr int most_losses = 12;          // then this kernel is for the host alone

} // namespace

std::unique_ptr<Bursts> Bursts::create(Kernel& kernel, const ScreenOptions& options) {
  auto screen = Screen::create(kernel, options);
  if (!screen) return nullptr;
  return std::unique_ptr<Bursts>(new Bursts(kernel, std::move(screen)));
}

// A launch that did not end took its whole batch with it. Halving finds the case by which it happens again.
Result<void> Bursts::find_culprit(const Burst& burst, const Recheck::JudgeCase& judge_case) {
  const auto is_found = [&](std::uint64_t number) {
    const auto judgement = judge_case(burst.neighbours().make(number));
    return !judgement || !judgement->findings.empty();
  };
  std::uint64_t first = burst.lost()->first, count = burst.lost()->count;
  for (std::uint64_t i = 0; i < std::min(tried_first, count); ++i)
    if (is_found(first + i)) return {};
  if (losses_ > narrowed_losses) return {};
  while (count > 1) {
    ASSAY_TRY(const bool survives, screen_->survives(burst, first, count / 2));
    first += survives ? count / 2 : 0;
    count = survives ? count - count / 2 : count / 2;
  }
  is_found(first);
  return {};
}

Result<std::optional<BurstSummary>> Bursts::after(const Case& parent, const Judgement& judgement,
                                                  double seconds, const CaseSpace& space, std::uint64_t most,
                                                  const Recheck::JudgeCase& judge_case) {
  host_seconds_ += seconds;
  paid_seconds_ += time_for(seconds);
  ++host_cases_;
  const bool ready = screen_->ready(parent.pass, parent.dtype);
  if (most == 0 || !ready || losses_ >= most_losses ||
      screen_seconds_ > (host_cases_ < first_cases ? at_first * host_seconds_ : paid_seconds_))
    return std::nullopt;
  const auto begin = Clock::now();
  const std::uint64_t seed = content_hash64(to_text(parent)) + bursts_++;
  const auto burst = screen_->burst(
      parent, space,
      {.seed = seed, .seconds = std::clamp(time_for(seconds), shortest, longest), .most = most});
  BurstSummary summary;
  if (!burst) {
    screen_seconds_ += since(begin);
    if (burst.error().kind != ErrorKind::user) return std::unexpected(burst.error());
    summary.note = once("not screened: " + burst.error().message);
    return summary;
  }
  const Recheck::Counts before = recheck_->counts();
  ASSAY_TRY(summary.disagreement, recheck_->look_at(*burst, judgement, seconds, judge_case));
  const Recheck::Counts& now = recheck_->counts();
  summary.screened = burst->clean() - (now.sampled - before.sampled);
  summary.unjudged = now.unjudged - before.unjudged;
  if (burst->lost()) {
    ++losses_;
    summary.unjudged += burst->lost()->count;
    summary.note = once("a burst was lost: " + burst->lost()->why);
    ASSAY_TRY_VOID(find_culprit(*burst, judge_case));
    if (losses_ == most_losses) summary.note = "no more bursts: launches keep coming to no end";
  }
  if (const auto& best = burst->best()) {
    const double of_parent = burst->parent() ? burst->parent()->record.ratio : 0;
    if (best->clean()) summary.worst_ratio = best->record.ratio;
    if (best->record.ratio > of_parent) summary.best = burst->case_of(*best);
  }
  screen_seconds_ += since(begin);
  return summary;
}

} // namespace assay
