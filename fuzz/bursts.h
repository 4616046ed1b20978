// When a campaign's worker lets the device try a burst of neighbours (harness/screen), how long, and what
// becomes of it.
#pragma once

#include "harness/screen/recheck.h"
#include "harness/screen/screen.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace assay {

struct BurstSummary {
  std::uint64_t screened = 0; // clean, and not judged by the host as well
  std::uint64_t unjudged = 0; // not clean, or lost with a launch that did not end, and nobody knows more
  std::optional<Case> best;   // of the neighbours, where it came closer to a threshold than the parent
  double worst_ratio = 0;     // of the clean ones
  std::optional<Disagreement> disagreement;
  std::string note; // one line that nobody has heard yet: why something is not screened
};

class Bursts {
 public:
  // So much of the time bursts may take for each second of the host's cases: first as much, so that many
  // shapes are tried; then 7 times as much for the first 10 ms of a case, which are all of most, and 35 times
  // for what it takes beyond them: such cases are large, and several threads of the host share them.
  static constexpr double at_first = 1, of_quick = 7, later = 35;
  static constexpr double quick = 0.01;
  static constexpr std::uint64_t first_cases = 4096; // of the host
  static constexpr double shortest = 0.1,
                          longest = 4; // seconds of a burst; it should last as time_for() says

  // Null: the device runs no batches. `kernel` must outlive this.
  static std::unique_ptr<Bursts> create(Kernel& kernel, const ScreenOptions& options = {});

  // Where a case of this kind has no burst: what bursts of its kind take is compiled meanwhile.
  void prepare(const Case& parent) { screen_->ready(parent.pass, parent.dtype); }

  // After the host's judgement of a case, which took so many seconds: its neighbours, at most so many, where
  // it is time and their programs are ready; else nothing. Cases that the host looks at go through
  // judge_case. Errors: the device's.
  Result<std::optional<BurstSummary>> after(const Case& parent, const Judgement& judgement, double seconds,
                                            const CaseSpace& space, std::uint64_t most,
                                            const Recheck::JudgeCase& judge_case);

  // What one case of the host's pays for, once the first are done.
  static constexpr double time_for(double seconds) {
    const double beyond = seconds > quick ? seconds - quick : 0;
    return of_quick * (seconds - beyond) + later * beyond;
  }

  const Recheck::Counts& looks() const { return recheck_->counts(); }

 private:
  Bursts(Kernel& kernel, std::unique_ptr<Screen> screen)
      : screen_(std::move(screen)), recheck_(std::make_unique<Recheck>(kernel, *screen_)) {}
  Result<void> find_culprit(const Burst& burst, const Recheck::JudgeCase& judge_case);
  std::string once(const std::string& note) { return told_.insert(note).second ? note : std::string(); }

  std::unique_ptr<Screen> screen_;
  std::unique_ptr<Recheck> recheck_;
  double host_seconds_ = 0, paid_seconds_ = 0, screen_seconds_ = 0;
  std::uint64_t host_cases_ = 0, bursts_ = 0;
  int losses_ = 0;
  std::set<std::string> told_;
};

} // namespace assay
