#include "tools/campaign.h"

#include "fuzz/status.h"
#include "harness/base/since.h"
#include "tools/campaign_screen.h"
#include "tools/interrupt.h"
#include "tools/kernel_campaign.h"
#include "tools/text.h"
#include "tools/worker_process.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace assay {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr auto tick = milliseconds(20);
constexpr double turn = 1;            // seconds between two decisions whose turn it is
constexpr double longest_turn = 10;   // where workers are ended between turns, because memory is short
constexpr double minimizing_time = 6; // after the end, for findings that are being minimized; then at once
constexpr double last_case_time = 20; // from there on, where others load the machine; then workers are killed
constexpr double hurried_case_time = 3; // the same after Ctrl-C

class Campaign {
 public:
  Campaign(CampaignOptions options, Console& console, fs::path program)
      : options_(std::move(options)), console_(console), program_(std::move(program)),
        schedule_(options_.kernels.size()) {}

  Result<CampaignSummary> run();

 private:
  Result<void> prepare();
  Result<void> watch();
  double turn_seconds() const;
  void decide();
  Result<void> take_turns();
  bool evict_one();
  void stop_workers();
  void show_progress();
  double elapsed() const { return since(began_) + before_; }
  bool all_done() const { return std::ranges::all_of(kernels_, &KernelCampaign::done); }
  bool time_is_over() const { return options_.seconds && elapsed() >= *options_.seconds; }
  bool any_alive() const;
  std::size_t alive() const;
  std::vector<KernelSummary> summaries();

  CampaignOptions options_;
  Console& console_;
  fs::path program_;
  Schedule schedule_;
  std::vector<KernelCampaign> kernels_;
  std::vector<std::vector<bool>> turns_; // whose it is, of each kernel's workers
  Clock::time_point began_, next_decision_;
  double before_ = 0;        // seconds of the campaign that is taken up
  std::size_t may_live_ = 0; // workers that memory has room for
  bool memory_is_short_ = false;
};

std::size_t Campaign::alive() const {
  std::size_t count = 0;
  for (const KernelCampaign& kernel : kernels_)
    for (std::size_t worker = 0; worker < kernel.workers(); ++worker) count += kernel.alive(worker) ? 1 : 0;
  return count;
}

bool Campaign::any_alive() const { return alive() > 0; }

// With one kernel all workers are its own. With several, each has one more than its share, so that a kernel
// that makes progress can get more of the time.
unsigned workers_of_each(const CampaignOptions& options) {
  const auto kernels = static_cast<unsigned>(options.kernels.size());
  const unsigned share = (options.jobs + kernels - 1) / kernels;
  const bool spare = kernels > 1 && kernels <= options.jobs && !options.runs;
  return share + (spare ? 1 : 0);
}

Result<void> Campaign::prepare() {
  for (const CampaignKernel& kernel : options_.kernels) { // all folders are taken before any is changed
    ASSAY_TRY(KernelCampaign campaign, KernelCampaign::open(kernel, options_, program_, console_));
    kernels_.push_back(std::move(campaign));
  }
  std::vector<bool> resumed;
  for (KernelCampaign& kernel : kernels_) {
    const auto record = kernel.interrupted_one();
    const auto first = static_cast<unsigned>(resumed.size()); // so that the kernels' first workers spread
    ASSAY_TRY_VOID(kernel.prepare(workers_of_each(options_), first));
    resumed.push_back(record.has_value());
    if (!record) continue;
    options_.seed = record->seed;
    before_ = std::max(before_, kernel.elapsed());
  }
  if (before_ > 0)
    console_.note(fmt::format("assay: going on with the campaign that was ended after {}{}",
                              clock_text(before_),
                              options_.seconds ? ", of " + clock_text(*options_.seconds) : ""));
  for (KernelCampaign& kernel : kernels_) ASSAY_TRY_VOID(kernel.begin(options_.seed, before_));
  for (const KernelCampaign& kernel : kernels_) turns_.emplace_back(kernel.workers(), false);
  may_live_ = std::max<std::size_t>(affordable_workers(), options_.jobs);
  std::size_t wanted = 0;
  for (const KernelCampaign& kernel : kernels_) wanted += kernel.workers();
  memory_is_short_ = wanted > may_live_;
  return {};
}

// Where a turn begins with a worker's start it is longer, but not so long that some kernel gets none.
double Campaign::turn_seconds() const {
  if (!memory_is_short_) return turn;
  const double all = options_.seconds.value_or(3600) * options_.jobs / static_cast<double>(kernels_.size());
  return std::clamp(all / 4, turn, longest_turn);
}

// Whose turn it is until the next decision. A kernel's first workers come first: they are alive already.
void Campaign::decide() {
  std::vector<Schedule::Claim> claims;
  for (KernelCampaign& kernel : kernels_) {
    kernel.look_for_news();
    claims.push_back(kernel.claim());
  }
  const double seconds = turn_seconds();
  const std::vector<unsigned> shares = schedule_.share(claims, options_.jobs, seconds);
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    unsigned left = shares[k];
    for (std::size_t worker = 0; worker < kernels_[k].workers(); ++worker) {
      turns_[k][worker] = left > 0 && !kernels_[k].finished(worker);
      if (turns_[k][worker]) --left;
    }
  }
  next_decision_ = Clock::now() + milliseconds(std::llround(seconds * 1000));
}

// Ends a worker that waits, to make room for another.
bool Campaign::evict_one() {
  for (std::size_t k = 0; k < kernels_.size(); ++k)
    for (std::size_t worker = 0; worker < kernels_[k].workers(); ++worker)
      if (kernels_[k].alive(worker) && !kernels_[k].busy(worker) && !turns_[k][worker]) {
        kernels_[k].evict(worker);
        return true;
      }
  return false;
}

// Pauses those whose turn is over; the next begin as soon as these have ended their case.
Result<void> Campaign::take_turns() {
  unsigned busy = 0;
  for (std::size_t k = 0; k < kernels_.size(); ++k)
    for (std::size_t worker = 0; worker < kernels_[k].workers(); ++worker) {
      if (!turns_[k][worker] && kernels_[k].alive(worker)) kernels_[k].pause(worker);
      if (kernels_[k].busy(worker)) ++busy;
    }
  for (std::size_t k = 0; k < kernels_.size(); ++k)
    for (std::size_t worker = 0; worker < kernels_[k].workers(); ++worker) {
      if (!turns_[k][worker] || kernels_[k].finished(worker) || busy >= options_.jobs) continue;
      if (kernels_[k].busy(worker)) {
        ASSAY_TRY_VOID(kernels_[k].run(worker)); // where it was about to be paused
        continue;
      }
      if (!kernels_[k].alive(worker) && alive() >= may_live_) {
        evict_one();
        continue;
      }
      ASSAY_TRY_VOID(kernels_[k].run(worker));
      ++busy;
    }
  return {};
}

std::vector<KernelSummary> Campaign::summaries() {
  std::vector<KernelSummary> summaries;
  for (KernelCampaign& kernel : kernels_) {
    kernel.count();
    summaries.push_back(kernel.summary());
  }
  return summaries;
}

void Campaign::show_progress() {
  std::vector<ScreenRow> rows;
  for (KernelCampaign& kernel : kernels_) {
    kernel.count();
    rows.push_back(
        {&kernel.summary(), kernel.busy_workers() > 0, kernel.done(), kernel.since_news_on_the_clock()});
  }
  console_.progress(campaign_screen(rows, elapsed(), options_.seconds, options_.runs),
                    campaign_line(rows, elapsed(), options_.seconds, options_.runs));
}

Result<void> Campaign::watch() {
  auto last = Clock::now();
  next_decision_ = last;
  while (!all_done() && !time_is_over() && !interrupted()) {
    std::this_thread::sleep_for(tick);
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last).count();
    last = now;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      KernelCampaign& kernel = kernels_[k];
      schedule_.charge(k, kernel.busy_workers() * seconds, kernel.claim());
      const bool was_done = kernel.done();
      ASSAY_TRY_VOID(kernel.look(seconds));
      kernel.save_elapsed(elapsed());
      if (kernel.done() && !was_done) {
        kernel.stop(stop_after_case); // the others may have its time
        next_decision_ = now;
      }
    }
    if (now >= next_decision_) decide();
    ASSAY_TRY_VOID(take_turns());
    if (console_.progress_due()) show_progress();
  }
  return {};
}

// Each worker ends before its next case; one that is minimizing a finding gets time to finish, less of it
// after Ctrl-C, none after a second one.
void Campaign::stop_workers() {
  const auto stopped = Clock::now();
  const bool at_once = interrupted();
  for (KernelCampaign& kernel : kernels_) kernel.stop(at_once ? stop_at_once : stop_after_case);
  while (any_alive()) {
    const double waited = since(stopped);
    const bool hurry = interrupted() || waited >= minimizing_time;
    const bool late = waited >= (at_once ? hurried_case_time : minimizing_time + last_case_time);
    if (hurry)
      for (KernelCampaign& kernel : kernels_) kernel.stop(stop_at_once);
    for (KernelCampaign& kernel : kernels_) kernel.reap(late, interruptions() > 1);
    std::this_thread::sleep_for(milliseconds(5));
  }
  if (interruptions() > 1) console_.note("assay: interrupted again; workers were killed");
}

Result<CampaignSummary> Campaign::run() {
  const InterruptScope scope;
  ASSAY_TRY_VOID(prepare());
  began_ = Clock::now();
  CampaignSummary summary;
  summary.outcome = watch();
  summary.seconds = elapsed();
  summary.interrupted = interrupted();
  stop_workers();
  console_.clear();
  const bool ended = summary.outcome && !summary.interrupted;
  for (KernelCampaign& kernel : kernels_) {
    kernel.save_elapsed(summary.seconds);
    if (const auto saved = kernel.end(ended); !saved && summary.outcome) summary.outcome = saved;
  }
  summary.kernels = summaries();
  summary.seed = options_.seed;
  return summary;
}

} // namespace

Result<CampaignSummary> run_campaign(CampaignOptions options, Console& console) {
  ASSAY_TRY(fs::path program, find_worker_program());
  return Campaign(std::move(options), console, std::move(program)).run();
}

} // namespace assay
