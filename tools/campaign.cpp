#include "tools/campaign.h"

#include "fuzz/finding_event.h"
#include "fuzz/status.h"
#include "harness/base/files.h"
#include "harness/base/hash.h"
#include "harness/store/corpus.h"
#include "harness/store/finding_store.h"
#include "tools/interrupt.h"
#include "tools/text.h"
#include "tools/worker_process.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace assay {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t max_crashes = 20;     // then something is wrong that no restart will mend
constexpr std::size_t max_false_starts = 3; // crashes in a row before a first case

// One campaign at a time works in a folder.
class FolderLock {
 public:
  static Result<FolderLock> take(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) return user_error(Place{path.string()}, "cannot be written: {}", std::strerror(errno));
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return FolderLock(file);
    ::close(file);
    return user_error(Place{path.parent_path().string()},
                      "another campaign is at work there; give --out another folder");
  }
  FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  ~FolderLock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_;
};

struct Worker {
  StatusFile status;
  fs::path status_path, findings_path, log_path;
  std::optional<WorkerProcess> process; // nothing: it has ended and stays so
  std::streamoff findings_read = 0;
  unsigned starts = 0;
  std::uint64_t cases_at_start = 0;
};

class Campaign {
 public:
  Campaign(const CampaignOptions& options, Console& console, fs::path program)
      : options_(options), console_(console), program_(std::move(program)),
        folder_(options.out / options.kernel / "campaign") {}

  Result<CampaignSummary> run();

 private:
  Result<void> prepare();
  Result<void> start(Worker& worker, unsigned index);
  Result<void> watch();
  Result<void> after_end(Worker& worker, unsigned index, const Ended& ended);
  void record_crash(const Worker& worker, const Ended& ended);
  void collect_findings(Worker& worker);
  void announce(const FindingEvent& event);
  void stop_workers();
  void count();
  std::string progress_line() const;
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  bool any_running() const;
  bool should_stop() const;

  const CampaignOptions& options_;
  Console& console_;
  fs::path program_, folder_;
  std::vector<Worker> workers_;
  std::set<std::string> signatures_;
  CampaignSummary summary_;
  Clock::time_point began_;
  std::size_t false_starts_ = 0;
};

Result<void> Campaign::prepare() {
  for (unsigned index = 0; index < options_.jobs; ++index) {
    const std::string stem = (folder_ / fmt::format("worker-{}", index)).string();
    ASSAY_TRY(StatusFile status, StatusFile::create(stem + ".status"));
    std::error_code ignored;
    for (const char* ending : {".findings", ".log"}) fs::remove(stem + ending, ignored);
    status->worker = index;
    status->workers = options_.jobs;
    if (options_.runs) {
      status->case_limit = *options_.runs / options_.jobs + (index < *options_.runs % options_.jobs ? 1 : 0);
      if (status->case_limit == 0) break; // fewer cases than workers
    }
    workers_.push_back(Worker{std::move(status), stem + ".status", stem + ".findings", stem + ".log", {}});
  }
  return {};
}

Result<void> Campaign::start(Worker& worker, unsigned index) {
  WorkerCommand command{.program = program_, .args = {}, .environment = {}, .log = worker.log_path};
  command.environment = {{"ASSAY_KERNEL", options_.manifest.string()},
                         {"ASSAY_DEVICE", options_.device},
                         {"ASSAY_OUT", options_.out.string()},
                         {"ASSAY_STATUS", worker.status_path.string()},
                         {"ASSAY_FINDINGS", worker.findings_path.string()}};
  // libFuzzer takes 0 as "choose one"; each worker, and each of its lives, searches elsewhere.
  const auto seed = static_cast<std::uint32_t>(
      content_hash64(fmt::format("{}/{}/{}", options_.seed, index, worker.starts)) % 0xfffffffeu + 1);
  command.args = {fmt::format("-seed={}", seed), "-exact_artifact_path=/dev/null", "-timeout=300",
                  "-rss_limit_mb=500", "-print_final_stats=0"};
  command.args.insert(command.args.end(), options_.libfuzzer_flags.begin(), options_.libfuzzer_flags.end());
  for (const fs::path& corpus : options_.corpora) command.args.push_back(corpus.string());
  ++worker.starts;
  worker.cases_at_start = worker.status->cases;
  ASSAY_TRY(worker.process, WorkerProcess::start(command));
  return {};
}

// A worker's own way to tell a finding: one JSON object a line, appended after the finding has been stored.
void Campaign::collect_findings(Worker& worker) {
  std::ifstream file(worker.findings_path, std::ios::binary);
  if (!file) return;
  file.seekg(worker.findings_read);
  std::string line;
  while (std::getline(file, line) && !file.eof()) { // a line without its newline is not complete yet
    worker.findings_read += static_cast<std::streamoff>(line.size()) + 1;
    const auto event = parse_event(line);
    if (event && signatures_.insert(event->signature).second) announce(*event);
  }
}

void Campaign::announce(const FindingEvent& event) {
  const fs::path report = event.folder / "report.json";
  const auto text = read_file(report);
  auto finding = text ? parse_finding(*text, report) : std::unexpected(text.error());
  if (!finding) {
    console_.note("assay: " + to_string(finding.error()));
    finding = Finding{};
    finding->signature.kernel = options_.kernel;
    finding->message = "stored, but its report cannot be read";
  }
  summary_.report.findings.push_back({.finding = *std::move(finding),
                                      .seconds_to_find = event.seconds_to_find,
                                      .case_file = event.folder / "minimized.case",
                                      .minimized_elements = event.minimized_elements});
  console_.result(finding_text(summary_.report.findings.back()));
}

void Campaign::record_crash(const Worker& worker, const Ended& ended) {
  Crash crash{describe(ended), {}};
  if (worker.status->running != 0) {
    const std::string_view text = worker.status->case_text();
    crash.culprit = options_.out / options_.kernel / "crashes" / (content_hash(text).substr(0, 16) + ".case");
    if (const auto written = write_file(crash.culprit, text); !written) {
      console_.note("assay: " + to_string(written.error()));
      crash.culprit.clear();
    }
    worker.status->end_case();
  }
  console_.note(fmt::format("assay: worker {}{}{}", crash.how,
                            crash.culprit.empty() ? "" : "; the case in work is " + crash.culprit.string(),
                            "; its log is " + worker.log_path.string()));
  summary_.crashes.push_back(std::move(crash));
}

Result<void> Campaign::after_end(Worker& worker, unsigned index, const Ended& ended) {
  worker.process.reset();
  collect_findings(worker);
  if (ended == Ended{}) return {}; // its cases are done, or it was told to stop
  const bool false_start = worker.status->cases == worker.cases_at_start && worker.status->running == 0;
  if (false_start && !ended.by_signal && (ended.code == 2 || ended.code == 4))
    return std::unexpected(Error{ended.code == 2 ? ErrorKind::user : ErrorKind::environment,
                                 "the worker could not start: " + last_log_line(worker.log_path),
                                 {}});
  record_crash(worker, ended);
  false_starts_ = false_start ? false_starts_ + 1 : 0;
  if (false_starts_ >= max_false_starts || summary_.crashes.size() >= max_crashes)
    return internal_error("the workers keep dying ({} times); the last one's log is {}",
                          summary_.crashes.size(), worker.log_path.string());
  return should_stop() ? Result<void>{} : start(worker, index);
}

bool Campaign::any_running() const {
  return std::ranges::any_of(workers_, [](const Worker& worker) { return worker.process.has_value(); });
}

bool Campaign::should_stop() const {
  return interrupted() || (options_.seconds && elapsed() >= *options_.seconds) ||
         (options_.stop_after > 0 && summary_.report.findings.size() >= options_.stop_after);
}

void Campaign::count() {
  std::vector<std::uint8_t> seen(max_seen_blocks / 8);
  CampaignReport& report = summary_.report;
  report.cases = report.suspects_not_confirmed = report.inconclusive = 0;
  summary_.hits = summary_.not_run = summary_.blocks = 0;
  for (const Worker& worker : workers_) {
    const WorkerStatus& status = *worker.status;
    report.cases += status.cases;
    summary_.hits += status.hits;
    report.suspects_not_confirmed += status.suspects_not_confirmed;
    report.inconclusive += status.inconclusive;
    summary_.not_run += status.not_run;
    summary_.blocks = std::max<std::uint64_t>(summary_.blocks, status.blocks);
    for (std::size_t i = 0; i < seen.size(); ++i)
      seen[i] |= status.blocks_seen[i].load(std::memory_order_relaxed);
  }
  summary_.blocks_seen = 0;
  for (const std::uint8_t byte : seen) summary_.blocks_seen += static_cast<unsigned>(std::popcount(byte));
  report.seconds = elapsed();
}

std::string Campaign::progress_line() const {
  const CampaignReport& report = summary_.report;
  std::string line =
      fmt::format("{}: {} cases, {:.0f}/s, coverage {}/{} blocks, {}", options_.kernel, report.cases,
                  static_cast<double>(report.cases) / std::max(report.seconds, 1e-3), summary_.blocks_seen,
                  summary_.blocks, counted(report.findings.size(), "finding"));
  if (options_.seconds)
    return line + fmt::format(", {} left", clock_text(*options_.seconds - report.seconds));
  return line + fmt::format(", {} cases left", *options_.runs - std::min(*options_.runs, report.cases));
}

Result<void> Campaign::watch() {
  while (any_running() && !should_stop()) {
    std::this_thread::sleep_for(milliseconds(20));
    for (unsigned index = 0; index < workers_.size(); ++index) {
      Worker& worker = workers_[index];
      if (!worker.process) continue;
      collect_findings(worker);
      if (const auto ended = worker.process->poll()) ASSAY_TRY_VOID(after_end(worker, index, *ended));
    }
    if (console_.progress_due()) {
      count();
      console_.progress(progress_line());
    }
  }
  return {};
}

// Each worker ends before its next case; one that is minimizing a finding gets time to finish, less of it
// after Ctrl-C.
void Campaign::stop_workers() {
  summary_.interrupted = interrupted();
  for (const Worker& worker : workers_)
    worker.status->stop = summary_.interrupted ? stop_at_once : stop_after_case;
  const auto deadline = Clock::now() + (summary_.interrupted ? milliseconds(3'000) : milliseconds(30'000));
  while (any_running()) {
    for (Worker& worker : workers_) {
      if (!worker.process) continue;
      if (const auto ended = worker.process->poll()) {
        worker.process.reset();
        if (*ended != Ended{}) record_crash(worker, *ended);
      } else if (Clock::now() >= deadline || interruptions() > 1) {
        console_.note(
            fmt::format("assay: a case took too long to end; its log is {}", worker.log_path.string()));
        worker.process.reset(); // kills it
      } else if (interrupted()) {
        worker.status->stop = stop_at_once;
      }
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  for (Worker& worker : workers_) collect_findings(worker);
  for (CampaignFinding& found : summary_.report.findings)
    if (const auto hits = FindingStore(options_.out).hits(found.finding.signature)) found.hits = *hits;
}

Result<CampaignSummary> Campaign::run() {
  std::error_code ec;
  fs::create_directories(folder_, ec);
  if (ec) return user_error(Place{folder_.string()}, "cannot be created: {}", ec.message());
  for (const fs::path& corpus : options_.corpora) {
    fs::create_directories(corpus, ec);
    if (ec) return user_error(Place{corpus.string()}, "cannot be used as a corpus: {}", ec.message());
    ASSAY_TRY_VOID(Corpus(corpus).files());
  }
  ASSAY_TRY(const FolderLock lock, FolderLock::take(folder_ / "lock"));
  ASSAY_TRY_VOID(prepare());
  const InterruptScope scope;
  began_ = Clock::now();
  Result<void> outcome;
  for (unsigned index = 0; index < workers_.size() && outcome; ++index) {
    workers_[index].status->started_ns = monotonic_ns();
    outcome = start(workers_[index], index);
  }
  if (outcome) outcome = watch();
  const double fuzzed = elapsed();
  stop_workers();
  count();
  summary_.report.seconds = fuzzed;
  summary_.report.kernel = options_.kernel;
  summary_.report.device = options_.device;
  console_.clear();
  std::error_code ignored;
  for (const Worker& worker : workers_) {
    fs::remove(worker.status_path, ignored);
    fs::remove(worker.findings_path, ignored);
  }
  if (!outcome) return std::unexpected(outcome.error());
  return std::move(summary_);
}

} // namespace

Result<CampaignSummary> run_campaign(const CampaignOptions& options, Console& console) {
  ASSAY_TRY(fs::path program, find_worker_program());
  return Campaign(options, console, std::move(program)).run();
}

} // namespace assay
