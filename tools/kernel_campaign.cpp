#include "tools/kernel_campaign.h"

#include "harness/base/files.h"
#include "harness/base/hash.h"
#include "harness/base/since.h"
#include "harness/store/corpus.h"
#include "harness/store/finding_store.h"
#include "tools/merge.h"
#include "tools/prune.h"
#include "tools/text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace assay {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t max_crashes = 20;     // then something is wrong that no restart will mend
constexpr std::size_t max_false_starts = 3; // crashes in a row before a first case
constexpr int libfuzzer_refuses = 1;        // its exit status where it cannot begin
constexpr std::size_t told_log_lines = 6;   // of a worker that ended: libFuzzer has four after the summary
constexpr double longest_step = 300;        // seconds of one case, or of one candidate while minimizing
constexpr long most_megabytes = 500;        // of a worker
constexpr long screen_megabytes = 1000;     // more where it compiles and feeds a screen
constexpr std::size_t pruned_from = 256;    // units of a corpus; fewer cost a worker's start nothing

// A new process begins with the peak of the one that started it, as far as libFuzzer can tell.
long peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

// What a worker that ended of itself said last.
Error told_by(const fs::path& log, int code) {
  std::string why = last_log_lines(log, 1);
  for (const std::string_view speaker : {"assay-fuzz: ", "assay: "})
    if (why.starts_with(speaker)) why.erase(0, speaker.size());
  return {code == exit_code(ErrorKind::user) ? ErrorKind::user : ErrorKind::environment, std::move(why), {}};
}

std::uint64_t nanoseconds(double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); }

} // namespace

KernelCampaign::KernelCampaign(const CampaignKernel& kernel, const CampaignOptions& options,
                               CampaignFolder folder, const fs::path& program, Console& console)
    : kernel_(&kernel), options_(&options), folder_(std::move(folder)), program_(&program),
      console_(&console) {
  summary_.report.kernel = kernel.name;
  summary_.report.device = options.device;
  summary_.report.not_tested = kernel.not_tested;
}

Result<KernelCampaign> KernelCampaign::open(const CampaignKernel& kernel, const CampaignOptions& options,
                                            const fs::path& program, Console& console) {
  ASSAY_TRY(CampaignFolder folder, CampaignFolder::take(options.out / kernel.name / "campaign"));
  std::error_code ec;
  for (const fs::path& corpus : kernel.corpora) {
    fs::create_directories(corpus, ec);
    if (ec) return user_error(Place{corpus.string()}, "cannot be used as a corpus: {}", ec.message());
    ASSAY_TRY_VOID(Corpus(corpus).files());
  }
  if (::access(kernel.corpora.front().c_str(), W_OK | X_OK) != 0)
    return user_error(Place{kernel.corpora.front().string()}, "cannot be added to, as a corpus is");
  return KernelCampaign(kernel, options, std::move(folder), program, console);
}

std::optional<CampaignFolder::Record> KernelCampaign::interrupted_one() const {
  auto record = folder_.read();
  if (record && (record->ended || record->command != record_command())) record.reset();
  return record;
}

Result<void> KernelCampaign::prepare(unsigned workers, unsigned first_turn) {
  remove_leftovers(options_->out / kernel_->name);
  ASSAY_TRY(const std::size_t broken, mend_corpus(kernel_->corpora.front()));
  if (broken > 0)
    console_->note(fmt::format("assay: {}: {} half-written, removed", kernel_->corpora.front().string(),
                               counted(broken, "unit")));
  for (const fs::path& corpus : kernel_->corpora) {
    ASSAY_TRY(const BrokenUnits left_out, broken_units(corpus));
    if (left_out.count > 0)
      console_->note(fmt::format("assay: {}: {} left out, being no case: {}", corpus.string(),
                                 counted(left_out.count, "file"), left_out.first));
  }
  const auto taken_up = interrupted_one();
  const bool resumes = taken_up.has_value();
  if (const auto before = folder_.read()) record_.units = before->units;
  if (resumes) record_.deaths = taken_up->deaths;
  for (const auto& [how, culprit] : record_.deaths) summary_.crashes.push_back({how, culprit});
  crashes_before_ = summary_.crashes.size();
  std::vector<std::string> unfinished; // cases whose finding may not have been stored, or not minimized
  std::error_code ec;
  fs::remove_all(merged(), ec);
  if (!resumes)
    for (const auto& file : fs::directory_iterator(folder_.path(), ec))
      if (file.path().filename().string().starts_with("worker-")) fs::remove(file.path(), ec);
  for (unsigned index = 0; index < workers; ++index) {
    const std::string stem = (folder_.path() / fmt::format("worker-{}", index)).string();
    std::optional<StatusFile> status;
    if (resumes) status = StatusFile::adopt(stem + ".status");
    if (!status) {
      ASSAY_TRY(status, StatusFile::create(stem + ".status"));
    }
    WorkerStatus& shared = **status;
    if (shared.running != 0) unfinished.emplace_back(shared.case_text());
    shared.end_case();
    shared.worker = index;
    shared.workers = workers;
    shared.turn = first_turn + index;
    shared.campaign = ::getpid();
    shared.stop = keep_going;
    shared.pause = shared.paused = 0;
    if (options_->runs)
      shared.case_limit = *options_->runs / workers + (index < *options_->runs % workers ? 1 : 0);
    const bool nothing_to_do = options_->runs && shared.cases >= shared.case_limit;
    workers_.push_back(Worker{.status = *std::move(status),
                              .status_path = stem + ".status",
                              .findings_path = stem + ".findings",
                              .log_path = stem + ".log",
                              .finished = nothing_to_do});
  }
  ran_ = static_cast<double>(workers_.front().status->ran_ns) * 1e-9;
  ASSAY_TRY(const auto stored, FindingStore(options_->out).list());
  for (const StoredFinding& finding : stored)
    if (finding.kernel == kernel_->name && !finding.earlier &&
        finding.case_file.filename() == "original.case")
      if (auto text = read_file(finding.case_file)) unfinished.push_back(*std::move(text));
  may_prune_ = unfinished.empty();
  for (const std::string& text : unfinished) // the search begins with them
    if (const auto test_case = parse_case(text, "unfinished"))
      ASSAY_TRY_VOID(Corpus(kernel_->corpora.front()).add(*test_case));
  return {};
}

Result<void> KernelCampaign::begin(std::uint64_t seed, double elapsed) {
  record_.command = record_command();
  record_.seed = seed;
  for (Worker& worker : workers_) worker.status->started_ns = monotonic_ns() - nanoseconds(elapsed);
  ASSAY_TRY_VOID(folder_.write(record_));
  for (Worker& worker : workers_) collect_findings(worker); // of the one that is taken up
  return {};
}

void KernelCampaign::save_elapsed(double seconds) {
  workers_.front().status->elapsed_ns = nanoseconds(seconds);
  workers_.front().status->ran_ns = nanoseconds(ran_);
}

bool KernelCampaign::has_enough() const {
  return options_->stop_after > 0 && summary_.report.findings.size() >= options_->stop_after;
}

bool KernelCampaign::done() const {
  return !summary_.usable || has_enough() || std::ranges::all_of(workers_, &Worker::finished);
}

bool KernelCampaign::busy(std::size_t worker) const {
  return alive(worker) && workers_[worker].status->paused == 0;
}

unsigned KernelCampaign::busy_workers() const {
  unsigned count = 0;
  for (std::size_t worker = 0; worker < workers_.size(); ++worker) count += busy(worker) ? 1 : 0;
  return count;
}

Schedule::Claim KernelCampaign::claim() const {
  const auto unfinished = std::ranges::count(workers_, false, &Worker::finished);
  return {done() ? 0u : static_cast<unsigned>(unfinished), since_news_};
}

// A worker's start runs the whole corpus, so that is when its size matters. It may double before it is pruned
// again.
bool KernelCampaign::wants_pruning() const {
  if (!may_prune_ || std::ranges::any_of(workers_, [](const Worker& w) { return w.process.has_value(); }))
    return false;
  const auto units = Corpus(kernel_->corpora.front()).files();
  return units && units->size() >= std::max(pruned_from, 2 * record_.units);
}

Result<void> KernelCampaign::start_pruning(Worker& worker) {
  std::error_code ec;
  fs::create_directories(merged(), ec);
  const std::string corpus = kernel_->corpora.front().string();
  ASSAY_TRY(const WorkerCommand command,
            merge_command(kernel_->manifest, options_->device, merged(), {&corpus, 1}, worker.log_path));
  worker.prunes = true;
  worker.status->paused = 0;
  ASSAY_TRY(worker.process, WorkerProcess::start(command));
  return {};
}

// Where it did not work the corpus stays as it is, and is left alone until it has doubled again.
Result<void> KernelCampaign::after_pruning(Worker& worker, const Ended& ended) {
  worker.prunes = false;
  if (ended == Ended{}) {
    ASSAY_TRY(const Pruned pruned, keep_merged(kernel_->corpora.front(), merged()));
    record_.units = pruned.kept;
  } else if (const auto files = Corpus(kernel_->corpora.front()).files()) {
    record_.units = files->size();
  }
  std::error_code ec;
  fs::remove_all(merged(), ec);
  corpus_changed_.reset(); // what has gone is no news
  return folder_.write(record_);
}

Result<void> KernelCampaign::start(Worker& worker) {
  if (wants_pruning()) return start_pruning(worker);
  const auto index = static_cast<std::size_t>(&worker - workers_.data());
  WorkerCommand command{.program = *program_, .args = {}, .environment = {}, .log = worker.log_path};
  command.environment = {{"ASSAY_KERNEL", kernel_->manifest.string()},
                         {"ASSAY_DEVICE", options_->device},
                         {"ASSAY_OUT", options_->out.string()},
                         {"ASSAY_STATUS", worker.status_path.string()},
                         {"ASSAY_FINDINGS", worker.findings_path.string()},
                         {"ASSAY_JOBS", std::to_string(options_->jobs)},
                         {"ASSAY_CHECK", kernel_->checked || worker.status->cases > 0 ? "" : "1"}};
  // libFuzzer takes 0 as "choose one"; each worker, and each of its lives, searches elsewhere.
  const auto seed = static_cast<std::uint32_t>(
      content_hash64(fmt::format("{}/{}/{}", record_.seed, index, worker.starts + worker.status->cases)) %
          0xfffffffeu +
      1);
  const long of_screen = options_->device.starts_with("cuda") ? screen_megabytes : 0;
  // The campaign itself ends what hangs: libFuzzer would count the time in which a worker waits for its turn.
  command.args = {fmt::format("-seed={}", seed),
                  "-exact_artifact_path=/dev/null",
                  "-timeout=1000000000",
                  "-report_slow_units=1000000000",
                  fmt::format("-rss_limit_mb={}", most_megabytes + peak_megabytes() + of_screen),
                  "-print_final_stats=0"};
  command.args.insert(command.args.end(), options_->libfuzzer_flags.begin(), options_->libfuzzer_flags.end());
  for (const fs::path& corpus : kernel_->corpora) command.args.push_back(corpus.string());
  ++worker.starts;
  worker.evicted = false;
  worker.cases_at_start = worker.status->cases;
  worker.status->stop = keep_going;
  worker.status->paused = 0;
  worker.status->trouble[0] = '\0';
  worker.still = 0;
  ASSAY_TRY(worker.process, WorkerProcess::start(command));
  return {};
}

Result<void> KernelCampaign::run(std::size_t index) {
  Worker& worker = workers_[index];
  worker.status->pause = 0;
  worker.status->wake();
  return worker.process ? Result<void>{} : start(worker);
}

void KernelCampaign::pause(std::size_t worker) { workers_[worker].status->pause = 1; }

void KernelCampaign::evict(std::size_t worker) {
  workers_[worker].evicted = true;
  workers_[worker].status->stop = stop_after_case;
  workers_[worker].status->wake();
}

void KernelCampaign::stop(Stop how) {
  for (Worker& worker : workers_) {
    if (worker.prunes) worker.process.reset(); // the corpus stays as it is
    worker.prunes = false;
    worker.status->stop = how;
    worker.status->wake();
  }
}

// A worker's own way to tell a finding: one JSON object a line, appended after the finding has been stored.
void KernelCampaign::collect_findings(Worker& worker) {
  std::ifstream file(worker.findings_path, std::ios::binary);
  if (!file) return;
  file.seekg(worker.findings_read);
  std::string line;
  while (std::getline(file, line) && !file.eof()) { // a line without its newline is not complete yet
    worker.findings_read += static_cast<std::streamoff>(line.size()) + 1;
    const auto event = parse_event(line);
    if (!event || told_.contains(event->signature)) continue;
    if (event->minimized) {
      being_minimized_.erase(event->signature);
      announce(*event);
    } else {
      being_minimized_.insert_or_assign(event->signature, *event);
    }
  }
}

void KernelCampaign::announce(const FindingEvent& event) {
  told_.insert(event.signature);
  const fs::path report = event.folder / "report.json";
  const auto text = read_file(report);
  auto finding = text ? parse_finding(*text, report) : std::unexpected(text.error());
  if (!finding) {
    console_->note("assay: " + to_string(finding.error()));
    finding = Finding{};
    finding->signature.kernel = kernel_->name;
    finding->message = "stored, but its report cannot be read";
  }
  summary_.report.findings.push_back(
      {.finding = *std::move(finding),
       .seconds_to_find = event.seconds_to_find,
       .case_file = event.folder / (event.minimized ? "minimized.case" : "original.case"),
       .minimized_elements = event.minimized_elements});
  news_ = Clock::now();
  since_news_ = 0;
  console_->result(finding_text(summary_.report.findings.back(), options_->program));
}

std::optional<Error> KernelCampaign::why_unusable(const Worker& worker, const Ended& ended) const {
  if (ended.by_signal) return std::nullopt;
  // Bad input may also show in the middle of a case: an operator of the user's that crashes. That is no
  // case's fault, and would come again.
  if (ended.code == 2 || (ended.code == 4 && worker.false_start()))
    return told_by(worker.log_path, ended.code);
  if (ended.code != libfuzzer_refuses || !worker.false_start() || options_->libfuzzer_flags.empty())
    return std::nullopt;
  return user_error(Place{worker.log_path.string()}, "libFuzzer does not begin with {}: {}",
                    fmt::join(options_->libfuzzer_flags, " "), last_log_lines(worker.log_path, 1))
      .error();
}

void KernelCampaign::record_crash(Worker& worker, const std::string& how) {
  Crash crash{how, {}};
  if (worker.status->running != 0) {
    const std::string_view text = worker.status->case_text();
    crash.culprit = options_->out / kernel_->name / "crashes" / (content_hash(text).substr(0, 16) + ".case");
    if (const auto written = write_file(crash.culprit, text); !written) {
      console_->note("assay: " + to_string(written.error()));
      crash.culprit.clear();
    }
    worker.status->end_case();
  }
  console_->note(fmt::format("assay: worker {}{}{}", crash.how,
                             crash.culprit.empty() ? "" : "; the case in work is " + crash.culprit.string(),
                             fmt::format("; its log is {}, which ends with: {}", worker.log_path.string(),
                                         one_line(last_log_lines(worker.log_path, told_log_lines)))));
  record_.deaths.push_back({crash.how, crash.culprit.string()});
  if (const auto written = folder_.write(record_); !written)
    console_->note("assay: " + to_string(written.error()));
  summary_.crashes.push_back(std::move(crash));
}

Result<void> KernelCampaign::after_end(Worker& worker, const Ended& ended) {
  worker.process.reset();
  if (worker.prunes) return after_pruning(worker, ended);
  collect_findings(worker);
  if (ended == Ended{}) {
    worker.finished = !worker.evicted;
    return {};
  }
  if (std::error_code ec; !fs::exists(worker.status_path, ec))
    return environment_error(Place{folder_.path().string()}, "is there no longer, so the campaign ends");
  if (!ended.by_signal && ended.code == cannot_store)
    return std::unexpected(Error{ErrorKind::environment,
                                 fmt::format("a finding could not be stored: {}; the same command goes on "
                                             "from here, with that case first",
                                             worker.status->trouble.data()),
                                 {}});
  if (auto why = why_unusable(worker, ended)) {
    summary_.usable = std::unexpected(*std::move(why));
    if (options_->kernels.size() == 1) return summary_.usable;
    console_->note(
        fmt::format("assay: {} is left out: {}", kernel_->name, to_string(summary_.usable.error())));
    return {};
  }
  std::string how = describe(ended);
  if (worker.status->trouble[0] != '\0') how += fmt::format(": {}", worker.status->trouble.data());
  record_crash(worker, how);
  false_starts_ = worker.false_start() ? false_starts_ + 1 : 0;
  const std::size_t crashes = summary_.crashes.size() - crashes_before_;
  if (false_starts_ >= max_false_starts || crashes >= max_crashes)
    return internal_error("the workers keep dying ({} times); the last one's log is {}", crashes,
                          worker.log_path.string());
  return {}; // it is started again when its turn comes
}

Result<void> KernelCampaign::look(double seconds) {
  const unsigned busy_now = busy_workers();
  if (busy_now > 0) ran_ += seconds;
  since_news_ += busy_now * seconds;
  for (std::size_t index = 0; index < workers_.size(); ++index) {
    Worker& worker = workers_[index];
    if (!worker.process) continue;
    collect_findings(worker);
    if (const auto ended = worker.process->poll()) {
      ASSAY_TRY_VOID(after_end(worker, *ended));
      continue;
    }
    if (worker.prunes) continue;
    const std::uint64_t steps = worker.status->steps;
    worker.still =
        steps != worker.steps || !busy(index) || worker.status->running == 0 ? 0 : worker.still + seconds;
    worker.steps = steps;
    if (worker.still < longest_step) continue;
    worker.process.reset(); // kills it
    record_crash(worker, fmt::format("hung for {:.0f} s on one case", longest_step));
  }
  return {};
}

void KernelCampaign::look_for_news() {
  std::error_code ec;
  const auto changed = fs::last_write_time(kernel_->corpora.front(), ec); // a unit has been added
  if (ec) return;
  if (corpus_changed_ && *corpus_changed_ != changed) {
    news_ = Clock::now();
    since_news_ = 0;
  }
  corpus_changed_ = changed;
}

void KernelCampaign::reap(bool late, bool at_once) {
  for (Worker& worker : workers_) {
    if (!worker.process) continue;
    if (const auto ended = worker.process->poll()) {
      worker.process.reset();
      // Where the kernel cannot be tried, all of its workers end for that reason.
      if (auto why = why_unusable(worker, *ended); why && summary_.usable)
        summary_.usable = std::unexpected(*std::move(why));
      else if (*ended != Ended{} && ended->code != cannot_store && summary_.usable)
        record_crash(worker, describe(*ended));
    } else if (late || at_once) {
      if (late)
        console_->note(fmt::format("assay: {}: a case takes too long; its worker is killed", kernel_->name));
      worker.process.reset(); // its case stays the one in work
    }
    collect_findings(worker);
  }
}

void KernelCampaign::count() {
  std::vector<std::uint8_t> seen(max_seen_blocks / 8);
  CampaignReport& report = summary_.report;
  report.cases = report.screened = report.unjudged = report.suspects_not_confirmed = report.inconclusive = 0;
  summary_.hits = summary_.not_run = summary_.blocks = summary_.blocks_seen = 0;
  summary_.worst_ratio = 0;
  for (const Worker& worker : workers_) {
    const WorkerStatus& status = *worker.status;
    report.cases += status.cases;
    report.screened += status.screened;
    report.unjudged += status.unjudged;
    summary_.hits += status.hits;
    report.suspects_not_confirmed += status.suspects_not_confirmed;
    report.inconclusive += status.inconclusive;
    summary_.not_run += status.not_run;
    summary_.blocks = std::max<std::uint64_t>(summary_.blocks, status.blocks);
    summary_.worst_ratio = std::max<double>(summary_.worst_ratio, status.worst_ratio);
    for (std::size_t i = 0; i < seen.size(); ++i)
      seen[i] |= status.blocks_seen[i].load(std::memory_order_relaxed);
  }
  for (const std::uint8_t byte : seen) summary_.blocks_seen += static_cast<unsigned>(std::popcount(byte));
  report.seconds = ran_;
}

double KernelCampaign::since_news_on_the_clock() const { return news_ ? since(*news_) : -1; }

Result<void> KernelCampaign::end(bool ended) {
  for (Worker& worker : workers_) collect_findings(worker);
  for (const auto& [signature, event] : being_minimized_)
    if (!told_.contains(signature)) announce(event);
  for (CampaignFinding& found : summary_.report.findings)
    if (const auto hits = FindingStore(options_->out).hits(found.finding.signature)) found.hits = *hits;
  count();
  if (const auto broken = mend_corpus(kernel_->corpora.front()); broken && *broken > 0)
    console_->note(fmt::format("assay: {}: {} half-written, removed", kernel_->corpora.front().string(),
                               counted(*broken, "unit")));
  if (!ended) return {};
  record_.ended = true;
  ASSAY_TRY_VOID(folder_.write(record_));
  std::error_code ignored;
  for (const Worker& worker : workers_) {
    fs::remove(worker.status_path, ignored);
    fs::remove(worker.findings_path, ignored);
  }
  return {};
}

} // namespace assay
