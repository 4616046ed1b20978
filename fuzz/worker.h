// What assay-fuzz does, without libFuzzer: texts in, verdicts out. Alone, a finding is printed and aborts, as
// of any fuzz target; as part of a campaign it is minimized and stored, and the search goes on.
#pragma once

#include "fuzz/bursts.h"
#include "fuzz/finding_event.h"
#include "fuzz/status.h"
#include "harness/inputs/rng.h"
#include "harness/inputs/space.h"
#include "harness/run/judge.h"
#include "harness/run/kernel.h"
#include "harness/store/finding_store.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Where a worker reports to. From the environment: ASSAY_OUT, ASSAY_STATUS, ASSAY_FINDINGS, ASSAY_JOBS.
struct CampaignLink {
  std::filesystem::path out;      // the findings' folder
  std::filesystem::path status;   // a WorkerStatus
  std::filesystem::path findings; // FindingEvents are appended to it
  bool check = false;             // nobody has seen yet whether the kernel can be tried: ASSAY_CHECK
  std::uint64_t jobs = 1;         // workers that run at a time, of all kernels
};

class Worker {
 public:
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  struct Mode {
    bool sweep = true;            // begin with the corner cases
    bool feedback = true;         // what libFuzzer climbs by; false: only in experiments
    bool mutation = true;         // of what libFuzzer kept; false: only fresh cases, in experiments
    bool screen = true;           // bursts of neighbours, in a campaign and where the device runs them
    bool abort_on_finding = true; // outside a campaign; false: a finding is a case like any other
  };
  static Result<std::unique_ptr<Worker>> create(const std::filesystem::path& manifest,
                                                const std::string& device,
                                                const std::optional<CampaignLink>& campaign, Mode mode);

  // Judges one case. False: the text is no case and should not be kept. Ends the process where the campaign
  // is over, where the device cannot go on, and, alone, on a finding.
  bool test(std::string_view text);

  // The next corner case of the sweep while there is one, then the best of a burst where there was one, else
  // a mutation of `text` (of a fresh case, where it is none), or now and then a fresh case. Empty where the
  // result would be longer than max_size.
  std::string mutate(std::string_view text, std::size_t max_size, std::uint64_t seed);
  std::string cross(std::string_view a, std::string_view b, std::size_t max_size, std::uint64_t seed);

 private:
  Worker() = default;
  std::optional<Case> legal_case(std::string_view text) const;
  std::optional<Case> next_of_sweep();
  bool sweeps() const;
  void count(const Judgement& judgement);
  std::optional<Judgement> judge_neighbour(const Case& test_case);
  void screen_neighbours(const Case& parent, const Judgement& judgement, double seconds);
  void count_blocks();
  bool over() const;
  void refused(const Error& error);
  void handle(const Finding& finding);
  void store(const Finding& finding, const FindingClaim& claim, std::uint64_t found_ns);
  void announce(const std::string& signature, const std::filesystem::path& folder, const Case& test_case,
                std::uint64_t found_ns, bool minimized);
  void wait_for_turn(); // returns at once outside a campaign
  [[noreturn]] void finish(int code);
  [[noreturn]] void finish_unstored(const Error& error);
  [[noreturn]] void finish_disagreeing(const Disagreement& disagreement);

  std::unique_ptr<Device> device_;
  std::unique_ptr<Kernel> kernel_;
  CaseSpace space_; // the kernel's, with what has been learnt
  Mode mode_;
  std::vector<Case> sweep_;
  std::uint64_t sweep_next_ = 0; // where there is no campaign to keep it
  std::uint64_t cases_ = 0;
  std::unique_ptr<Bursts> bursts_; // null: there are none
  std::string best_of_burst_;      // to be handed out

  std::optional<CampaignLink> campaign_;
  std::optional<StatusFile> status_;
  std::optional<FindingStore> store_;
  std::set<std::string> culprits_; // texts that killed a worker before
  std::set<std::string> known_;    // signatures of findings that are stored and announced
};

} // namespace assay
