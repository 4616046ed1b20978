#include "harness/report/triage_collect.h"

#include "harness/base/files.h"
#include "harness/reduce/minimize.h"
#include "harness/report/error_series.h"
#include "harness/report/json.h"
#include "harness/report/table.h"
#include "harness/run/replay.h"
#include "harness/run/suspects.h"
#include "harness/store/corpus.h"
#include "harness/store/finding_store.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

namespace assay {

namespace fs = std::filesystem;

namespace {

constexpr double marginal_severity = 4;
constexpr std::size_t most_samples = 12;

// One case file of the folder.
struct StoredCase {
  fs::path file;
  std::optional<StoredFinding> finding; // where it is a campaign's
};

// What became of it.
struct Examined {
  TriageFinding finding;
  GroupingFinding grouping;
  Case test_case;
  std::optional<Judgement> judgement; // of the case; none where it could not be told what is wrong now
  Diagnosis diagnosis;
  std::string op;
  std::size_t elements = 0; // off the base value
};

std::int64_t seconds_of(const fs::path& file) {
  std::error_code ec;
  const auto time = fs::last_write_time(file, ec);
  if (ec) return 0;
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::file_clock::to_sys(time).time_since_epoch())
      .count();
}

Result<std::vector<StoredCase>> cases_below(const fs::path& folder) {
  ASSAY_TRY(const std::vector<StoredFinding> stored, FindingStore(folder).list());
  std::vector<StoredCase> cases;
  for (const StoredFinding& finding : stored) cases.push_back({finding.case_file, finding});
  ASSAY_TRY(const std::vector<fs::path> files, Corpus(folder).files());
  for (const fs::path& file : files) {
    std::error_code ec;
    const bool has_smaller =
        file.filename() == "original.case" && fs::exists(file.parent_path() / "minimized.case", ec);
    const bool known = std::ranges::any_of(
        stored, [&](const StoredFinding& finding) { return finding.folder == file.parent_path(); });
    if (file.extension() == ".case" && !has_smaller && !known) cases.push_back({file, std::nullopt});
  }
  if (cases.empty()) return user_error({folder.string()}, "holds no *.case file");
  return cases;
}

// What a finding is worth knowing though its case passes now.
Finding recorded_finding(const StoredCase& stored) {
  const fs::path file = stored.file.parent_path() / "report.json";
  std::error_code ec;
  if (!fs::exists(file, ec)) return {};
  const auto text = read_file(file);
  if (!text) return {};
  auto finding = parse_finding(*text, file);
  return finding ? *std::move(finding) : Finding{};
}

class Collector {
 public:
  Collector(Device& device, const TriageOptions& options) : kernels_(device), options_(options) {}

  // nullopt: no finding.
  Result<std::optional<Examined>> examine(const StoredCase& stored) {
    ASSAY_TRY(const std::string text, read_file(stored.file, std::size_t{1} << 20));
    ASSAY_TRY(Case test_case, parse_case(text, stored.file.string()));
    ASSAY_TRY(const fs::path manifest, find_manifest(test_case, stored.file));
    ASSAY_TRY(Kernel* const kernel, kernels_.get(manifest));
    ASSAY_TRY(Judgement judgement, judge(*kernel, test_case, {.mode = JudgeMode::on_this_input}));
    if (!stored.finding && test_case.expect.pass && judgement.findings.empty()) return std::nullopt;

    Examined examined;
    examined.op = kernel->op().info().name;
    examined.elements = elements_off_base(test_case, kernel->space());
    const Finding recorded = recorded_finding(stored);
    std::string wanted = stored.finding ? stored.finding->signature : test_case.expect.signature;
    const Finding* now = nullptr;
    for (const Finding& finding : judgement.findings)
      if (!now || to_string(finding.signature) == wanted) now = &finding;
    TriageFinding& told = examined.finding;
    told.open = now != nullptr;
    told.case_file = stored.file;
    told.hits = stored.finding ? stored.finding->hits : 0;
    const fs::path original = stored.file.parent_path() / "original.case";
    std::error_code ec;
    told.first_seen = seconds_of(fs::exists(original, ec) ? original : stored.file);
    told.last_seen = std::max(told.first_seen, seconds_of(stored.file.parent_path() / "hits"));
    examined.test_case = std::move(test_case);
    if (now) {
      told.signature = to_string(now->signature);
      told.kind = now->signature.kind;
      told.message = now->message;
      told.severity = now->severity;
      examined.grouping.signature = now->signature;
      ASSAY_TRY(examined.diagnosis, diagnose(*kernel, *now));
      if (!examined.diagnosis.suspects.empty())
        examined.grouping.likeliest = examined.diagnosis.suspects.front().cause;
      for (const Finding& other : judgement.findings)
        examined.grouping.seen_with.push_back(to_string(other.signature));
    } else {
      told.signature = wanted.empty() ? stored.file.stem().string() : wanted;
      told.kind = recorded.signature.kind;
      told.message = recorded.message;
      told.severity = std::isnan(recorded.severity) ? 0 : recorded.severity;
      examined.grouping.signature = recorded.signature;
      examined.grouping.signature.kernel = kernel->manifest().name;
    }
    examined.grouping.severity = told.severity;
    examined.judgement = std::move(judgement);
    return examined;
  }

  TriageGroup group_of(std::vector<Examined>& all, const std::vector<std::size_t>& members) {
    const Examined& leading = all[members.front()];
    TriageGroup group;
    group.signature = leading.finding.signature;
    group.kernel = leading.grouping.signature.kernel;
    group.op = leading.op;
    group.case_file = leading.finding.case_file.string();
    group.test_case = leading.test_case;
    group.open = false;
    bool counted = false;
    for (const std::size_t k : members) {
      const TriageFinding& finding = all[k].finding;
      group.findings.push_back(finding);
      group.open = group.open || finding.open;
      group.count += std::max<std::uint64_t>(1, finding.hits);
      counted = counted || finding.hits > 0;
      group.first_seen =
          group.first_seen == 0 ? finding.first_seen : std::min(group.first_seen, finding.first_seen);
      group.last_seen = std::max(group.last_seen, finding.last_seen);
    }
    if (!counted) group.count = members.size();
    for (const char* command : {"replay", "explain", "export"})
      group.commands.push_back(fmt::format("{} {} {}{}", options_.program, command, group.case_file,
                                           std::string_view(command) == "export" ? " --format cu" : ""));
    group.minimized_elements = leading.elements;
    group.tensors = triage_tensors(*leading.judgement);
    group.suspects = leading.diagnosis.suspects;
    group.cleared = leading.diagnosis.cleared;
    group.note = note_of(leading);
    draw(group, leading);
    return group;
  }

 private:
  static std::string note_of(const Examined& leading) {
    if (!leading.finding.open) return "its case passes now";
    const double severity = leading.finding.severity;
    std::string note = leading.diagnosis.note;
    if (std::isfinite(severity) && severity < marginal_severity) {
      const double fudge = leading.test_case.tolerance.fudge;
      note += fmt::format(
          "{}marginal: {} times what right kernels reach here; it would be legal under a declared "
          "fudge of {} in place of {}",
          note.empty() ? "" : "; ", short_number(severity), short_number(std::ceil(fudge * severity)),
          short_number(fudge));
    }
    return note;
  }

  // The richest case that fails alike tells most.
  void draw(TriageGroup& group, const Examined& leading) {
    const FailingTrial* richest = nullptr;
    for (const FailingTrial& failing : leading.diagnosis.trials)
      if (!richest ||
          failing.trial.target[failing.output].size() > richest->trial.target[richest->output].size())
        richest = &failing;
    if (!richest) return;
    group.map = error_map(richest->trial, richest->output, 64, 32);
    group.histogram = error_histogram(richest->trial, richest->output);
    for (const FailingTrial& failing : leading.diagnosis.trials)
      group.samples.push_back(sample_point(failing.test_case, failing.trial, failing.output, true));
    add_samples(group, leading);
  }

  // The fault at other sizes, and the same sizes without it.
  void add_samples(TriageGroup& group, const Examined& leading) {
    const FailingTrial& own = leading.diagnosis.trials.front();
    const auto manifest = find_manifest(own.test_case, group.case_file);
    if (!manifest) return;
    const auto kernel = kernels_.get(*manifest);
    if (!kernel) return;
    std::vector<Case> cases = richer_cases(**kernel, own.test_case);
    for (const auto& [dim, size] : own.test_case.dims)
      for (const std::int64_t other : {size / 2, 2 * size, 8 * size, 64 * size})
        if (auto sized = resized(**kernel, own.test_case, dim, other)) cases.push_back(*std::move(sized));
    for (const Case& one : cases) {
      if (group.samples.size() >= most_samples) return;
      const auto trial = run_trial(**kernel, one);
      if (!trial) continue;
      for (std::size_t i = 0; i < trial->tensors.size(); ++i) {
        if (trial->tensors[i].name != own.report().name || trial->target[i].empty()) continue;
        const bool failed =
            std::ranges::any_of(trial->violations, [&](const Violation& v) { return v.report == i; });
        ErrorSamplePoint point = sample_point(one, *trial, i, failed);
        const bool known = std::ranges::any_of(group.samples, [&](const ErrorSamplePoint& other) {
          return other.dims == point.dims && other.distribution == point.distribution;
        });
        if (!known) group.samples.push_back(std::move(point));
      }
    }
  }

  KernelCache kernels_;
  TriageOptions options_;
};

} // namespace

Result<TriageReport> collect_triage(const fs::path& folder, Device& device, const TriageOptions& options,
                                    const TriageProgress& progress) {
  std::error_code ec;
  if (!fs::is_directory(folder, ec))
    return user_error({folder.string()}, "is no folder of findings or cases");
  ASSAY_TRY(const std::vector<StoredCase> cases, cases_below(folder));
  TriageReport report;
  report.folder = folder.string();
  report.device = device.name();
  Collector collector(device, options);
  std::vector<Examined> all;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    if (progress) progress(k, cases.size(), cases[k].file.string());
    auto examined = collector.examine(cases[k]);
    if (!examined) {
      const bool names_it = examined.error().place.file == cases[k].file.string();
      report.unread.push_back(
          names_it ? to_string(examined.error())
                   : fmt::format("{}: {}", cases[k].file.string(), to_string(examined.error())));
      continue;
    }
    if (*examined) all.push_back(**std::move(examined));
  }
  std::vector<GroupingFinding> findings;
  for (const Examined& one : all) findings.push_back(one.grouping);
  for (const std::vector<std::size_t>& members : group_findings(findings))
    report.groups.push_back(collector.group_of(all, members));
  std::ranges::sort(report.groups, [](const TriageGroup& a, const TriageGroup& b) {
    if (a.open != b.open) return a.open;
    const double severity_a = a.findings.front().severity, severity_b = b.findings.front().severity;
    const bool gross_a = severity_a >= marginal_severity, gross_b = severity_b >= marginal_severity;
    if (gross_a != gross_b) return gross_a;
    return a.count != b.count ? a.count > b.count : a.signature < b.signature;
  });
  return report;
}

} // namespace assay
