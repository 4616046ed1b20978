#include "harness/report/triage_collect.h"

#include "harness/base/files.h"
#include "harness/base/processes.h"
#include "harness/report/json.h"
#include "harness/report/table.h"
#include "harness/report/text.h"
#include "harness/report/triage_cache.h"
#include "harness/report/triage_examine.h"
#include "harness/store/corpus.h"
#include "harness/store/finding_store.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace assay {

namespace fs = std::filesystem;

namespace {

constexpr double marginal_severity = 4;

// One case file of the folder.
struct StoredCase {
  fs::path file;
  std::optional<StoredFinding> finding; // where it is a campaign's
  Case test_case = {};
  std::string wanted = {}; // the signature that it is stored or expected under
  std::string key = {};    // in the cache
};

// One that is a finding, and what became of it.
struct Told {
  const StoredCase* stored = nullptr;
  Examined examined;
  TriageFinding finding;
  GroupingFinding grouping;
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
        file.filename() == "original.case" && fs::is_regular_file(file.parent_path() / "minimized.case", ec);
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

// nullopt: no finding.
std::optional<Told> tell(const StoredCase& stored, Examined examined) {
  if (!stored.finding && stored.test_case.expect.pass && !examined.finding) return std::nullopt;
  Told told{&stored, std::move(examined), {}, {}};
  TriageFinding& finding = told.finding;
  finding.open = told.examined.finding.has_value();
  finding.case_file = stored.file;
  finding.hits = stored.finding ? stored.finding->hits : 0;
  const fs::path original = stored.file.parent_path() / "original.case";
  std::error_code ec;
  finding.first_seen = seconds_of(fs::exists(original, ec) ? original : stored.file);
  finding.last_seen = std::max(finding.first_seen, seconds_of(stored.file.parent_path() / "hits"));
  if (const auto& now = told.examined.finding) {
    finding.signature = to_string(now->signature);
    finding.kind = now->signature.kind;
    finding.message = now->message;
    finding.severity = now->severity;
    told.grouping.signature = now->signature;
    if (!told.examined.suspects.empty()) told.grouping.likeliest = told.examined.suspects.front().cause;
    told.grouping.seen_with = told.examined.seen_with;
  } else {
    const Finding recorded = recorded_finding(stored);
    finding.signature = stored.wanted.empty() ? stored.file.stem().string() : stored.wanted;
    finding.kind = recorded.signature.kind;
    finding.message = recorded.message;
    finding.severity = std::isnan(recorded.severity) ? 0 : recorded.severity;
    told.grouping.signature = recorded.signature;
    told.grouping.signature.kernel = told.examined.kernel;
  }
  told.grouping.severity = finding.severity;
  return told;
}

std::string note_of(const Told& leading) {
  if (!leading.finding.open) return "its case passes now";
  const double severity = leading.finding.severity;
  std::string note = leading.examined.note;
  if (std::isfinite(severity) && severity < marginal_severity) {
    const double fudge = leading.stored->test_case.tolerance.fudge;
    note +=
        fmt::format("{}marginal: {} times what right kernels reach here; it would be legal under a declared "
                    "fudge of {} in place of {}",
                    note.empty() ? "" : "; ", short_number(severity),
                    short_number(std::ceil(fudge * severity)), short_number(fudge));
  }
  return note;
}

TriageGroup group_of(std::vector<Told>& all, const std::vector<std::size_t>& members,
                     const std::string& program) {
  Told& leading = all[members.front()];
  TriageGroup group;
  group.signature = leading.finding.signature;
  group.kernel = leading.grouping.signature.kernel;
  group.op = leading.examined.op;
  group.case_file = leading.finding.case_file.string();
  group.test_case = leading.stored->test_case;
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
    group.commands.push_back(fmt::format("{} {} {}{}", shell_quoted(program), command,
                                         shell_quoted(group.case_file),
                                         std::string_view(command) == "export" ? " --format cu" : ""));
  group.minimized_elements = leading.examined.elements;
  group.note = note_of(leading);
  group.tensors = std::move(leading.examined.tensors);
  group.suspects = std::move(leading.examined.suspects);
  group.cleared = std::move(leading.examined.cleared);
  group.map = std::move(leading.examined.map);
  group.histogram = std::move(leading.examined.histogram);
  group.samples = std::move(leading.examined.samples);
  return group;
}

// In a process of its own: cases of one kernel stand beside each other, so that it is compiled once, and no
// more than one is kept.
class Examiner {
 public:
  explicit Examiner(const TriageOptions& options) : options_(options) {}

  Result<std::string> examine(const StoredCase& stored) {
    if (!kernels_ || manifest_ != stored.test_case.manifest) {
      kernels_.reset();
      ASSAY_TRY(device_, options_.open_device());
      kernels_.emplace(*device_);
      manifest_ = stored.test_case.manifest;
    }
    ASSAY_TRY(const Examined examined, examine_case(stored.test_case, stored.file, stored.wanted, *kernels_));
    return examined_json(examined);
  }

 private:
  const TriageOptions& options_;
  std::unique_ptr<Device> device_;
  std::optional<KernelCache> kernels_;
  std::string manifest_;
};

Result<void> read_case(StoredCase& stored) {
  ASSAY_TRY(const std::string text, read_file(stored.file, std::size_t{1} << 20));
  ASSAY_TRY(stored.test_case, parse_case(text, stored.file.string()));
  stored.wanted = stored.finding ? stored.finding->signature : stored.test_case.expect.signature;
  return {};
}

// Across processes goes either what was found out, or the error behind this mark.
constexpr char error_mark = '!';

} // namespace

Result<TriageReport> collect_triage(const fs::path& folder, const TriageOptions& options,
                                    const TriageProgress& progress) {
  std::error_code ec;
  if (!fs::is_directory(folder, ec))
    return user_error({folder.string()}, "is no folder of findings or cases");
  ASSAY_TRY(std::vector<StoredCase> cases, cases_below(folder));
  TriageReport report;
  report.folder = folder.string();
  report.device = options.device;
  std::vector<std::string> unread(
      cases.size()); // by case, so that the order does not depend on who was first
  std::vector<std::optional<Examined>> examined(cases.size());
  const TriageCache cache(options.cache_dir, options.device);
  std::vector<std::size_t> missing;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    if (const auto read = read_case(cases[k]); !read) {
      unread[k] = to_string(read.error());
      continue;
    }
    cases[k].key = cache.key(cases[k].test_case, cases[k].file, cases[k].wanted);
    examined[k] = cache.load(cases[k].key);
    if (!examined[k]) missing.push_back(k);
  }
  std::ranges::sort(missing, {}, [&](std::size_t k) { return std::pair(cases[k].test_case.manifest, k); });

  Examiner examiner(options); // each child has its copy
  const auto work = [&](std::size_t m) {
    const auto found = examiner.examine(cases[missing[m]]);
    return found ? *found : error_mark + to_string(found.error());
  };
  std::size_t done = cases.size() - missing.size();
  const auto take = [&](std::size_t m, const Result<std::string>& found) {
    const std::size_t k = missing[m];
    if (progress) progress(++done, cases.size());
    if (found && !found->starts_with(error_mark)) examined[k] = parse_examined(*found);
    if (examined[k]) return cache.store(cases[k].key, *found);
    const std::string why = found ? found->substr(1) : to_string(found.error()),
                      file = cases[k].file.string();
    unread[k] = why.starts_with(file) ? why : fmt::format("{}: {}", file, why);
  };
  ASSAY_TRY_VOID(for_each_in_processes(missing.size(), options.jobs, work, take));

  std::vector<Told> all;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    if (!unread[k].empty()) report.unread.push_back(unread[k]);
    if (!examined[k]) continue;
    if (auto told = tell(cases[k], *std::move(examined[k]))) all.push_back(*std::move(told));
  }
  std::vector<GroupingFinding> findings;
  for (const Told& one : all) findings.push_back(one.grouping);
  for (const std::vector<std::size_t>& members : group_findings(findings))
    report.groups.push_back(group_of(all, members, options.program));
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
