// What of a burst the host looks at, and for how much of the time: of the cases that are not plainly clean
// those that weigh most, of the clean ones a sample, and the parent of each burst, which the host judges
// anyway.
#pragma once

#include "harness/run/judge.h"
#include "harness/screen/screen.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace assay {

// The screen and the host contradict each other about this case, again and again: our own fault.
struct Disagreement {
  Case test_case;
  std::string message; // one line
};

class Recheck {
 public:
  // Of the time that bursts take, at most so much goes to cases of theirs on the host: an account that each
  // burst pays into, and that a case is taken from once it covers a case of the host's. What a case then
  // takes more (a confirmation, minimizing) later bursts pay for. Alone a kind of fault in memory, an
  // unwritten element or a wrong exact output that was never seen before does not wait.
  static constexpr double flagged_share = 1.0 / 12, sample_share = 1.0 / 24;
  // A burst that lasts longer pays as one of this length: so many times what a case takes the host, and at
  // least so many seconds.
  static constexpr double case_times = 7, short_burst = 0.1;
  static constexpr std::size_t most_of_a_pattern = 4; // of cases flagged alike in a burst

  // The host's judgement, which the caller also acts upon; nothing: this is the end of it, or the case cannot
  // run.
  using JudgeCase = std::function<std::optional<Judgement>(const Case&)>;

  // kernel, screen: must outlive this.
  Recheck(Kernel& kernel, Screen& screen) : kernel_(kernel), screen_(screen) {}

  // of_parent: what the host says of the burst's parent, and in how many seconds. Errors: the device's.
  Result<std::optional<Disagreement>> look_at(const Burst& burst, const Judgement& of_parent, double seconds,
                                              const JudgeCase& judge_case);

  struct Counts {
    std::uint64_t flagged = 0;  // judged by the host because they were not clean
    std::uint64_t sampled = 0;  // clean ones that it judged as well
    std::uint64_t parents = 0;  // compared
    std::uint64_t unjudged = 0; // not clean, and nobody knows more
    double seconds = 0;         // of the host, for the first two
  };
  const Counts& counts() const { return counts_; }

 private:
  Result<std::optional<Disagreement>> compare(const Burst& burst, const ScreenedCase& screened,
                                              const Case& test_case, const Trial& trial);
  std::optional<Judgement> timed(const Case& test_case, double& account, const JudgeCase& judge_case);

  Kernel& kernel_;
  Screen& screen_;
  double for_flagged_ = 0, for_sample_ = 0; // seconds
  std::set<std::uint64_t> looked_at_;       // patterns
  Counts counts_;
};

} // namespace assay
