#include "harness/run/replay.h"

#include "harness/run/describe.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

namespace assay {

namespace fs = std::filesystem;

namespace {

// The working folder, then every folder above the case's file.
std::vector<fs::path> roots_of(const fs::path& case_file) {
  std::error_code ec;
  std::vector<fs::path> roots{fs::current_path(ec)};
  const fs::path absolute = fs::absolute(case_file, ec);
  for (fs::path folder = absolute.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    roots.push_back(folder);
    if (folder == folder.root_path()) break;
  }
  return roots;
}

// kernels/**/kernel.toml (and other manifests) below a root whose kernel has the name.
std::optional<fs::path> manifest_by_name(const fs::path& root, const std::string& name) {
  std::error_code ec;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator it(root / "kernels", ec), end; !ec && it != end; it.increment(ec))
    if (it->path().extension() == ".toml" && it->is_regular_file(ec)) files.push_back(it->path());
  std::ranges::sort(files);
  for (const fs::path& file : files)
    if (const auto manifest = load_manifest(file); manifest && manifest->name == name) return file;
  return std::nullopt;
}

// What of the tolerance in force is looser than what the case was recorded with; empty: nothing.
std::string looser_than(const Tolerance& recorded, const Tolerance& declared) {
  std::vector<std::string> looser;
  const auto larger = [&](const char* name, double now, double then) {
    if (now > then)
      looser.push_back(fmt::format("{} {} (recorded {})", name, value_text(now), value_text(then)));
  };
  const auto optional_larger = [&](const char* name, std::optional<double> now, std::optional<double> then) {
    if (now && then) larger(name, *now, *then);
  };
  larger("fudge", declared.fudge, recorded.fudge);
  larger("atol", declared.atol, recorded.atol);
  optional_larger("max_ulp", declared.max_ulp, recorded.max_ulp);
  optional_larger("rms_limit", declared.rms_limit, recorded.rms_limit);
  if (declared.max_ulp && !recorded.max_ulp)
    looser.push_back(fmt::format("max_ulp {} (recorded none)", *declared.max_ulp));
  if (recorded.rms_limit && !declared.rms_limit)
    looser.push_back(fmt::format("no rms_limit (recorded {})", *recorded.rms_limit));
  // A lower limit makes more gates invalid, and an invalid gate accuses nobody.
  if (declared.reference_limit < recorded.reference_limit)
    looser.push_back(
        fmt::format("reference_limit {} (recorded {})", declared.reference_limit, recorded.reference_limit));
  if (declared.flush_subnormals && !recorded.flush_subnormals)
    looser.push_back("flush_subnormals (not recorded)");
  return fmt::format("{}", fmt::join(looser, ", "));
}

bool has_place(Kind kind) { // in its signature
  switch (kind) {
  case Kind::trap:
  case Kind::out_of_bounds:
  case Kind::misaligned:
  case Kind::barrier:
  case Kind::race:
  case Kind::uninitialized:
  case Kind::input_modified:
    return true;
  default:
    return false;
  }
}

std::string first_of(const Judgement& judgement) {
  const Finding& finding = judgement.findings.front();
  return fmt::format("{}: {}", to_string(finding.signature), finding.message);
}

// Whether a finding is what the case expects. Where the device did not know the place, nor perhaps whose
// memory it was, as a GPU does not, what it does know has to agree.
bool is_expected(const Signature& seen, const std::string& expected) {
  const std::string text = to_string(seen);
  if (text == expected) return true;
  if (seen.place != Place{} || !has_place(seen.kind)) return false;
  if (!seen.output.empty()) return expected.starts_with(text + "-");
  const std::string kind = fmt::format("-{}", name_of(seen.kind));
  const std::string head = text.substr(0, text.size() - kind.size()); // "kernel-forward-"
  return expected.starts_with(head) && expected.find(kind + "-", head.size()) != std::string::npos;
}

void decide(ReplayOutcome& outcome, const Expectation& expect) {
  const Judgement& judgement = outcome.judgement;
  if (expect.pass) {
    outcome.status = judgement.findings.empty() ? ReplayStatus::passed : ReplayStatus::failed;
    outcome.why = judgement.findings.empty() ? "nothing wrong" : first_of(judgement);
    return;
  }
  const std::string expected = printable(expect.signature);
  for (const Finding& finding : judgement.findings)
    if (is_expected(finding.signature, expect.signature)) {
      outcome.status = ReplayStatus::passed;
      outcome.why = fmt::format("fails as expected, {}: {}", expected, finding.message);
      return;
    }
  if (judgement.findings.empty()) {
    outcome.status = ReplayStatus::fixed;
    outcome.why =
        fmt::format("fixed: {} is expected, but the kernel passes; update the case's expect", expected);
    return;
  }
  outcome.status = ReplayStatus::failed;
  outcome.why = fmt::format("{} is expected, but it fails with {}", expected, first_of(judgement));
}

} // namespace

std::string_view name_of(ReplayStatus status) {
  switch (status) {
  case ReplayStatus::passed:
    return "passed";
  case ReplayStatus::failed:
    return "failed";
  case ReplayStatus::fixed:
    return "fixed";
  case ReplayStatus::error:
    return "error";
  }
  return "?";
}

Result<Kernel*> KernelCache::get(const fs::path& manifest) {
  std::error_code ec;
  fs::path key = fs::weakly_canonical(manifest, ec);
  if (ec) key = manifest;
  if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second.get();
  ASSAY_TRY(std::unique_ptr<Kernel> kernel, Kernel::load(manifest, *device_, options_));
  return kernels_.emplace(std::move(key), std::move(kernel)).first->second.get();
}

Result<fs::path> find_manifest(const Case& test_case, const fs::path& case_file) {
  fs::path named = test_case.manifest;
  std::error_code ec;
  const Place place{case_file.string(), test_case.lines.place("kernel").line, 0};
  const auto a_folder = [&] {
    return user_error(place, "its kernel {} is a folder; name the kernel.toml in it", named.string());
  };
  if (named.is_absolute()) {
    if (fs::is_regular_file(named, ec)) return named;
    if (fs::is_directory(named, ec)) return a_folder();
    return user_error(place, "its kernel {} is not there", named.string());
  }
  const bool is_name = !named.has_parent_path() && named.extension() != ".toml";
  for (const fs::path& root : roots_of(case_file)) {
    if (fs::is_regular_file(root / named, ec)) {
      const fs::path relative = fs::proximate(root / named, ec);
      return ec || relative.string().starts_with("..") ? root / named : relative;
    }
    if (!is_name && fs::is_directory(root / named, ec)) return a_folder();
    if (is_name)
      if (const auto found = manifest_by_name(root, named.string())) return *found;
  }
  return user_error(
      place, "its kernel {} is not there: looked in the working folder and every folder above the case",
      named.string());
}

Result<ReplayOutcome> replay(const Case& test_case, const fs::path& case_file, KernelCache& kernels,
                             const std::optional<fs::path>& replacement) {
  fs::path manifest;
  if (replacement)
    manifest = *replacement;
  else {
    ASSAY_TRY(manifest, find_manifest(test_case, case_file));
  }
  ASSAY_TRY(Kernel * kernel, kernels.get(manifest));

  ReplayOutcome outcome;
  outcome.file = case_file;
  outcome.line = test_case.lines.place("expect").line;
  if (!replacement && !test_case.source_hash.empty() && test_case.source_hash != kernel->source_hash())
    outcome.notes.push_back("the kernel's source has changed since the case was made");
  ASSAY_TRY(outcome.judgement, judge(*kernel, test_case, {JudgeMode::on_this_input, -1}));
  decide(outcome, replacement ? Expectation{} : test_case.expect);

  const std::string looser = looser_than(test_case.tolerance, kernel->space().tolerance);
  if (!looser.empty()) {
    outcome.notes.push_back(fmt::format("the manifest now declares a looser tolerance: {}", looser));
    if (outcome.status == ReplayStatus::passed) {
      outcome.status = ReplayStatus::failed;
      outcome.why = fmt::format("looser tolerance than recorded: {}", looser);
    }
  }
  return outcome;
}

} // namespace assay
