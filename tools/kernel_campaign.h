// One kernel's part of a campaign: its workers, what they count and find, what is left of them on disk.
#pragma once

#include "fuzz/finding_event.h"
#include "fuzz/status.h"
#include "tools/campaign.h"
#include "tools/campaign_folder.h"
#include "tools/schedule.h"
#include "tools/worker_process.h"

#include <chrono>
#include <map>
#include <set>

namespace assay {

class KernelCampaign {
 public:
  // Takes the kernel's folder: nothing is changed in it yet.
  static Result<KernelCampaign> open(const CampaignKernel& kernel, const CampaignOptions& options,
                                     const std::filesystem::path& program, Console& console);

  // The campaign that was killed here and that the same command takes up.
  std::optional<CampaignFolder::Record> interrupted_one() const;

  // Mends what a killed one left, makes the workers' statuses or takes up the old ones; `elapsed` says
  // afterwards how long the campaign had lasted. first_turn: WorkerStatus::turn of its first worker.
  Result<void> prepare(unsigned workers, unsigned first_turn);
  double elapsed() const { return static_cast<double>(workers_.front().status->elapsed_ns) * 1e-9; }
  Result<void> begin(std::uint64_t seed, double elapsed); // from here on there is a campaign to take up
  void save_elapsed(double seconds);

  std::size_t workers() const { return workers_.size(); }
  bool done() const;
  // Why it could not be tried at all; it is then done.
  const Result<void>& usable() const { return summary_.usable; }
  bool finished(std::size_t worker) const { return workers_[worker].finished; }
  bool alive(std::size_t worker) const { return workers_[worker].process.has_value(); }
  // Alive and not waiting for its turn.
  bool busy(std::size_t worker) const;
  unsigned busy_workers() const;
  Schedule::Claim claim() const;

  Result<void> run(std::size_t worker); // its turn begins; starts it where it is not alive
  void pause(std::size_t worker);       // its turn ends with the case in work
  void evict(std::size_t worker);       // ends it; it is started again when its turn comes
  void stop(Stop how);                  // all of them

  // Looks after the workers: tells findings, restarts what has died, ends what hangs. `seconds`: since the
  // last call.
  Result<void> look(double seconds);
  void look_for_news(); // for claim(); reads a folder
  // While stopping: workers that ended are not restarted. Those that still run are killed where it is late,
  // which is told, or where they are to end at once.
  void reap(bool late, bool at_once);

  void count(); // brings summary() up to date
  const KernelSummary& summary() const { return summary_; }
  double since_news_on_the_clock() const; // wall seconds; negative: nothing new yet

  // After the last worker: findings whose minimizing was cut short are told, hits are read, and `ended` is
  // written down.
  Result<void> end(bool ended);

 private:
  struct Worker {
    StatusFile status;
    std::filesystem::path status_path, findings_path, log_path;
    std::optional<WorkerProcess> process = {};
    bool finished = false; // it has done its cases
    bool evicted = false;
    bool prunes = false; // its process is libFuzzer's merge, which makes the corpus small again
    std::streamoff findings_read = 0;
    unsigned starts = 0;
    std::uint64_t cases_at_start = 0;
    std::uint64_t steps = 0; // when last looked at
    double still = 0;        // seconds of its turns since they changed

    // Of one that has ended: before a first case.
    bool false_start() const { return status->cases == cases_at_start && status->running == 0; }
  };

  KernelCampaign(const CampaignKernel& kernel, const CampaignOptions& options, CampaignFolder folder,
                 const std::filesystem::path& program, Console& console);
  std::string record_command() const { return options_->command + "\n" + kernel_->version; }
  std::filesystem::path merged() const { return folder_.path() / "merged"; }
  Result<void> start(Worker& worker);
  bool wants_pruning() const;
  Result<void> start_pruning(Worker& worker);
  Result<void> after_pruning(Worker& worker, const Ended& ended);
  Result<void> after_end(Worker& worker, const Ended& ended);
  // Why the kernel cannot be tried at all, where a worker's end tells that.
  std::optional<Error> why_unusable(const Worker& worker, const Ended& ended) const;
  void record_crash(Worker& worker, const std::string& how);
  void collect_findings(Worker& worker);
  void announce(const FindingEvent& event);
  bool has_enough() const;

  const CampaignKernel* kernel_;
  const CampaignOptions* options_;
  CampaignFolder folder_;
  const std::filesystem::path* program_;
  Console* console_;
  std::vector<Worker> workers_;
  CampaignFolder::Record record_;
  bool may_prune_ = true; // false: the corpus holds cases that the search has yet to begin with
  std::set<std::string> told_;
  std::map<std::string, FindingEvent> being_minimized_;
  KernelSummary summary_;
  std::size_t false_starts_ = 0;
  std::size_t crashes_before_ = 0; // of the campaign that is taken up
  double ran_ = 0;                 // seconds in which a worker ran
  double since_news_ = 0;          // worker-seconds
  std::optional<std::chrono::steady_clock::time_point> news_;
  std::optional<std::filesystem::file_time_type> corpus_changed_;
};

} // namespace assay
