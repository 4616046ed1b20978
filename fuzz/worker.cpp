#include "fuzz/worker.h"

#include "fuzz/check_kernel.h"
#include "fuzz/feedback.h"
#include "fuzz/open_device.h"
#include "fuzz/same_fault.h"
#include "harness/base/files.h"
#include "harness/base/parallel.h"
#include "harness/report/json.h"
#include "harness/report/text.h"
#include "harness/store/corpus.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace assay {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t initial_text = 2;         // libFuzzer's first input is a lone newline
constexpr double fresh_share = 1.0 / 8;         // of mutations that start from a new case instead
constexpr std::uint64_t learn_period = 256;     // cases between two looks at what comparisons taught
constexpr std::uint64_t refusals_in_vain = 200; // with no case judged: the kernel cannot be tried at all

// Not by fmt::print, which throws where the log's disk is full.
void say(const std::string& text) { std::fprintf(stderr, "assay-fuzz: %s\n", text.c_str()); }

} // namespace

Result<std::unique_ptr<Worker>> Worker::create(const fs::path& manifest, const std::string& device,
                                               const std::optional<CampaignLink>& campaign, Mode mode) {
  std::unique_ptr<Worker> worker(new Worker);
  if (campaign) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a campaign that is killed leaves no worker behind
    worker->campaign_ = campaign;
    worker->store_.emplace(campaign->out);
    ASSAY_TRY(worker->status_, StatusFile::open(campaign->status));
    if ((*worker->status_)->campaign != ::getppid()) // it was killed before the line above
      return environment_error({campaign->status.string()}, "its campaign is gone");
  }
  const unsigned turn = campaign ? (*worker->status_)->turn : 0;
  ASSAY_TRY(worker->device_, open_device(device, turn));
  if (campaign && threads_used() > 1) use_threads(threads_of_host(campaign->jobs));
  if (campaign && campaign->check) {
    const auto loading = loading_device(device);
    ASSAY_TRY_VOID(check_kernel(manifest, loading ? *loading : *worker->device_));
  }
  ASSAY_TRY(worker->kernel_, Kernel::load(manifest, *worker->device_, {.named_by_user = true}));
  worker->space_ = worker->kernel_->space();
  ASSAY_TRY_VOID(repair(Case{}, worker->space_)); // so that drawing can never fail
  worker->mode_ = mode;
  if (mode.sweep) worker->sweep_ = corner_cases(worker->space_);
  if (campaign) {
    ASSAY_TRY(const auto files, Corpus(campaign->out / worker->kernel_->manifest().name / "crashes").files());
    for (const fs::path& file : files)
      if (auto text = read_file(file)) worker->culprits_.insert(*std::move(text));
  }
  if (campaign && mode.screen) worker->bursts_ = Bursts::create(*worker->kernel_, {.ahead = true});
  if (mode.feedback) worker->device_->set_compare_hook(feedback::on_compare);
  return worker;
}

std::optional<Case> Worker::legal_case(std::string_view text) const {
  auto parsed = parse_case(text, "input");
  if (!parsed) return std::nullopt;
  auto repaired = repair(*std::move(parsed), space_);
  if (!repaired) return std::nullopt;
  return *std::move(repaired);
}

bool Worker::over() const {
  if (!status_) return false;
  const WorkerStatus& status = **status_;
  return status.stop != keep_going || (status.case_limit > 0 && status.cases >= status.case_limit);
}

// Between cases, so that a turn's end is no part of a case's time.
void Worker::wait_for_turn() {
  if (!status_ || (*status_)->pause == 0) return;
  device_->release_all(); // nearly all of a campaign's workers wait at any time, and need little meanwhile
  ::malloc_trim(0);
  (*status_)->wait_for_turn();
}

bool Worker::test(std::string_view text) {
  if (over()) finish(0);
  std::optional<Case> test_case;
  if (text.size() < initial_text) {
    Rng rng(0);
    test_case = sweep_.empty() ? draw_case(space_, rng) : sweep_.front();
  } else {
    test_case = legal_case(text);
  }
  if (!test_case) return false;
  const std::string canonical = to_text(*test_case);
  if (canonical.size() > max_case_text || culprits_.contains(canonical)) return false;

  if (status_) (*status_)->begin_case(canonical);
  feedback::clear();
  std::ranges::fill(device_->coverage().counters, std::uint8_t{0});
  const std::uint64_t began_ns = monotonic_ns();
  const auto judgement = judge(*kernel_, *test_case);
  const double seconds = static_cast<double>(monotonic_ns() - began_ns) * 1e-9;
  if (!judgement) {
    if (status_) (*status_)->end_case();
    refused(judgement.error());
    return false;
  }
  ++cases_;
  if (status_) ++(*status_)->steps;
  count_blocks();
  if (mode_.feedback) {
    feedback::add_ratios(judgement->trial.tensors);
    feedback::add_shape(*test_case, space_.dims);
  }
  if (cases_ % learn_period == 1) space_.learnt = feedback::learnt_sizes();

  if (!judgement->findings.empty() && !campaign_ && mode_.abort_on_finding) {
    fmt::print(stderr, "{}\n{}", canonical, explain_text(*test_case, *kernel_, *judgement));
    std::fflush(stderr);
    std::abort(); // libFuzzer keeps the input and says where
  }
  if (campaign_) {
    device_->set_compare_hook(nullptr); // what minimizing and neighbours do is no news of this case
    count(*judgement);
    screen_neighbours(*test_case, *judgement, seconds);
    if (mode_.feedback) device_->set_compare_hook(feedback::on_compare);
    (*status_)->end_case();
  }
  return true;
}

// In a campaign: what was found is stored, and the case counts.
void Worker::count(const Judgement& judgement) {
  for (const Finding& finding : leading(judgement.findings)) handle(finding);
  WorkerStatus& status = **status_;
  if (!judgement.findings.empty()) ++status.hits;
  status.suspects_not_confirmed += judgement.lucky.size();
  if (judgement.inconclusive) ++status.inconclusive;
  for (const TensorReport& tensor : judgement.trial.tensors)
    if (!tensor.exact && tensor.gate_valid() && tensor.ratio() > status.worst_ratio)
      status.worst_ratio = tensor.ratio();
  ++status.cases;
}

// A case of a burst, before the host too; nothing where it is not to be looked at, or where the campaign
// ends.
std::optional<Judgement> Worker::judge_neighbour(const Case& test_case) {
  const std::string canonical = to_text(test_case);
  if (over() || canonical.size() > max_case_text || culprits_.contains(canonical)) return std::nullopt;
  wait_for_turn();
  (*status_)->begin_case(canonical);
  auto judgement = judge(*kernel_, test_case);
  ++(*status_)->steps;
  if (!judgement) {
    refused(judgement.error());
    return std::nullopt;
  }
  ++cases_;
  count(*judgement);
  return *std::move(judgement);
}

// The parent stays the case in work meanwhile: what ends the process is its neighbours' doing.
void Worker::screen_neighbours(const Case& parent, const Judgement& judgement, double seconds) {
  if (!bursts_ || over()) return;
  if (sweeps()) return bursts_->prepare(parent);
  WorkerStatus& status = **status_;
  const std::uint64_t left = status.case_limit > 0 ? status.case_limit - status.cases : ~std::uint64_t{0};
  const auto summary = bursts_->after(parent, judgement, seconds, space_, left,
                                      [&](const Case& neighbour) { return judge_neighbour(neighbour); });
  ++status.steps;
  if (!summary) return refused(summary.error());
  if (!*summary) return;
  const BurstSummary& burst = **summary;
  if (!burst.note.empty()) say(burst.note);
  status.cases += burst.screened;
  status.screened += burst.screened;
  status.unjudged += burst.unjudged;
  if (burst.worst_ratio > status.worst_ratio) status.worst_ratio = burst.worst_ratio;
  if (burst.best) best_of_burst_ = to_text(*burst.best);
  if (burst.disagreement) finish_disagreeing(*burst.disagreement);
}

void Worker::count_blocks() {
  const auto counters = device_->coverage().counters;
  if (mode_.feedback) feedback::add_blocks(counters);
  if (!status_) return;
  WorkerStatus& status = **status_;
  const std::size_t blocks = std::min(counters.size(), max_seen_blocks);
  status.blocks =
      std::max<std::uint32_t>(status.blocks, static_cast<std::uint32_t>(blocks)); // of the largest module
  for (std::size_t i = 0; i < blocks; ++i)
    if (counters[i] != 0) status.blocks_seen[i / 8] |= static_cast<std::uint8_t>(1u << (i % 8));
}

// The space is drawn so that cases can run; where one cannot, it is counted. Where none can, that is the
// kernel's fault.
void Worker::refused(const Error& error) {
  const std::uint64_t refusals = status_ ? ++(*status_)->not_run : 0;
  const bool in_vain = cases_ == 0 && refusals >= refusals_in_vain;
  if (error.kind == ErrorKind::user && !in_vain && status_) return;
  say(to_string(error));
  if (error.kind == ErrorKind::user && !in_vain) return;
  finish(exit_code(error.kind));
}

void Worker::handle(const Finding& finding) {
  const std::string signature = to_string(finding.signature);
  if (known_.contains(signature)) {
    if (const auto counted = store_->add_hits(finding.signature, 1); !counted)
      say(to_string(counted.error()));
    return;
  }
  const std::uint64_t found_ns = monotonic_ns();
  const fs::path minimized = store_->folder_of(finding.signature) / "minimized.case";
  auto claim = store_->claim(finding.signature, finding.test_case);
  if (claim && !*claim) {
    // Stored before. What an earlier campaign stored may be about a kernel that has changed since.
    const auto text = read_file(minimized);
    if (!text) return; // another worker is at it, and will tell
    const auto stored = parse_case(*text, minimized.string());
    if (stored && shows(*kernel_, *stored, finding.signature)) { // as severely or not
      known_.insert(signature);
      return announce(signature, minimized.parent_path(), *stored, found_ns, true);
    }
    claim = store_->replace(finding.signature, finding.test_case, *text);
  }
  if (!claim) finish_unstored(claim.error());
  if (*claim) store(finding, **claim, found_ns);
}

void Worker::store(const Finding& finding, const FindingClaim& claim, std::uint64_t found_ns) {
  const auto kept = [&](const Result<void>& stored) {
    if (!stored) finish_unstored(stored.error());
  };
  const std::string signature = to_string(finding.signature);
  kept(claim.describe(finding_json(finding))); // whatever ends the minimizing, the finding can be told
  announce(signature, claim.folder(), finding.test_case, found_ns, false);
  const ShouldKeep same_fault = shows_same_fault(*kernel_, finding);
  const auto still_fails = [&](const Case& candidate) {
    wait_for_turn();
    ++(*status_)->steps;
    return (*status_)->stop != stop_at_once && same_fault(candidate);
  };
  const Minimized smallest = minimize(finding.test_case, kernel_->space(), still_fails);

  Finding final = finding;
  if (const auto again = judge(*kernel_, smallest.test_case, {.mode = JudgeMode::on_this_input})) {
    const auto same = std::ranges::find(again->findings, finding.signature, &Finding::signature);
    if (same != again->findings.end()) final = *same;
  }
  kept(claim.complete(final.test_case, finding_json(final)));
  known_.insert(signature);
  announce(signature, claim.folder(), final.test_case, found_ns, true);
}

void Worker::announce(const std::string& signature, const fs::path& folder, const Case& test_case,
                      std::uint64_t found_ns, bool minimized) {
  const double seconds = static_cast<double>(found_ns - (*status_)->started_ns) * 1e-9;
  const FindingEvent event{signature, folder, seconds, elements_off_base(test_case, kernel_->space()),
                           minimized};
  if (const auto told = append_event(campaign_->findings, event); !told) finish_unstored(told.error());
}

// The case stays in the status as the one in work: the next campaign begins with it.
void Worker::finish_unstored(const Error& error) {
  const std::string text = to_string(error);
  say(text);
  (*status_)->tell(text);
  finish(cannot_store);
}

// The case stays the one in work, so that the campaign keeps it.
void Worker::finish_disagreeing(const Disagreement& disagreement) {
  (*status_)->begin_case(to_text(disagreement.test_case));
  say("internal fault: " + disagreement.message);
  (*status_)->tell(disagreement.message);
  finish(exit_code(ErrorKind::internal));
}

void Worker::finish(int code) {
  std::fflush(nullptr);
  ::_exit(code); // exit() would look like a crash of the target to libFuzzer
}

std::optional<Case> Worker::next_of_sweep() {
  const std::uint64_t workers = status_ ? (*status_)->workers : 1;
  const std::uint64_t index =
      (status_ ? (*status_)->sweep_next++ : sweep_next_++) * workers + (status_ ? (*status_)->worker : 0);
  return index < sweep_.size() ? std::optional(sweep_[index]) : std::nullopt;
}

bool Worker::sweeps() const {
  const std::uint64_t next = status_ ? (*status_)->sweep_next.load() : sweep_next_;
  return next * (status_ ? (*status_)->workers : 1) < sweep_.size();
}

std::string Worker::mutate(std::string_view text, std::size_t max_size, std::uint64_t seed) {
  wait_for_turn();
  std::string result;
  if (const auto corner = next_of_sweep()) result = to_text(*corner);
  if (result.empty()) result = std::exchange(best_of_burst_, {});
  if (!result.empty() && result.size() <= max_size) return result;
  Rng rng(seed);
  std::optional<Case> parent;
  if (mode_.mutation && !rng.chance(fresh_share)) parent = legal_case(text);
  if (parent) {
    do parent = ::assay::mutate(*parent, space_, rng);
    while (rng.chance(0.4));
  } else {
    parent = draw_case(space_, rng);
  }
  result = to_text(*parent);
  return result.size() <= max_size ? result : std::string();
}

std::string Worker::cross(std::string_view a, std::string_view b, std::size_t max_size, std::uint64_t seed) {
  const auto first = legal_case(a), second = legal_case(b);
  if (!first || !second || !mode_.mutation) return mutate(a, max_size, seed);
  Rng rng(seed);
  const std::string result = to_text(crossover(*first, *second, space_, rng));
  return result.size() <= max_size ? result : std::string();
}

} // namespace assay
