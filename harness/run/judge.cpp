#include "harness/run/judge.h"

#include "harness/base/hash.h"
#include "harness/base/parallel.h"
#include "harness/run/describe.h"
#include "harness/run/execute.h"
#include "harness/run/rms_limit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace assay {

namespace {

constexpr std::uint64_t sampled_one_in = 16;   // cases that run twice though nothing is suspected
constexpr int repeats_where_order_matters = 7; // 8 runs in all

std::uint64_t schedule_of_repeat(const Case& test_case, int repeat) {
  return test_case.schedule_seed ^ content_hash64(fmt::format("repeat {}", repeat));
}

int repeats_of(const Kernel& kernel, const Case& test_case, const Trial& trial, const JudgeOptions& options) {
  if (options.repeats >= 0) return options.repeats;
  if (kernel.has_atomics() || !kernel.manifest().deterministic) return repeats_where_order_matters;
  if (!trial.violations.empty()) return 1;
  std::uint64_t seeds = test_case.schedule_seed;
  for (const TensorInput& input : test_case.inputs) seeds = seeds * 31 + input.seed;
  return content_hash64({reinterpret_cast<const char*>(&seeds), sizeof seeds}) % sampled_one_in == 0;
}

// The first element whose bits differ (NaNs are all alike), or -1.
std::int64_t first_difference(const std::vector<double>& a, const std::vector<double>& b) {
  const std::size_t first = first_where(a.size(), least_elements, [&](std::size_t i) {
    return std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i]) &&
           !(std::isnan(a[i]) && std::isnan(b[i]));
  });
  return first == a.size() ? -1 : static_cast<std::int64_t>(first);
}

class Judge {
 public:
  Judge(Kernel& kernel, const Case& test_case, const JudgeOptions& options)
      : kernel_(kernel), case_(test_case), options_(options) {}

  Result<Judgement> run() {
    ASSAY_TRY(judgement_.trial, run_trial(kernel_, case_));
    const Trial& first = judgement_.trial;
    ASSAY_TRY_VOID(settle(first, case_));
    const int repeats = repeats_of(kernel_, case_, first, options_);
    for (int repeat = 1; repeat <= repeats; ++repeat) {
      Case again = case_;
      again.schedule_seed = schedule_of_repeat(case_, repeat);
      ASSAY_TRY(const Trial trial, repeat_trial(kernel_, again, first, again.schedule_seed));
      if (compare_bits(first, trial)) ASSAY_TRY_VOID(settle(trial, again));
    }
    for (std::size_t i = 0; i < first.tensors.size(); ++i)
      if (auto finding = rms_finding(kernel_, case_, first, i); finding && !is_found(finding->signature))
        judgement_.findings.push_back(*std::move(finding));
    std::ranges::sort(judgement_.findings, {}, [](const Finding& finding) {
      return std::pair(finding.signature.kind, to_string(finding.signature));
    });
    judgement_.inconclusive = std::ranges::any_of(first.tensors, [&](const TensorReport& report) {
      return !report.exact && !report.gate_valid() &&
             std::ranges::none_of(judgement_.findings,
                                  [&](const Finding& f) { return f.signature.output == report.name; });
    });
    return std::move(judgement_);
  }

 private:
  bool is_found(const Signature& signature) const {
    return std::ranges::any_of(judgement_.findings,
                               [&](const Finding& f) { return f.signature == signature; });
  }

  // A suspect that was explained on one run is looked at again only where another run is further off.
  bool is_explained(const Violation& violation) const {
    return std::ranges::any_of(judgement_.lucky, [&](const LuckyReference& lucky) {
      return lucky.violation.signature == violation.signature && lucky.violation.ratio >= violation.ratio;
    });
  }

  void add_finding(const Violation& violation, const Trial& trial, const Case& test_case,
                   const Confirmed* confirmed) {
    Finding finding;
    finding.signature = violation.signature;
    finding.test_case = test_case;
    finding.message = violation.message;
    if (runs_twice(trial.plan, test_case.schedule_seed)) finding.message += ", on the second launch";
    finding.ratio = violation.ratio;
    finding.element = violation.element;
    if (violation.report < trial.tensors.size()) finding.tensor = trial.tensors[violation.report];
    finding.faults = trial.faults;
    if (confirmed) {
      finding.severity = confirmed->severity;
      finding.threshold = confirmed->threshold;
      finding.rigorous_bound = confirmed->rigorous_bound;
      finding.confirmation = confirmed->how;
    }
    judgement_.findings.push_back(std::move(finding));
  }

  // Structural violations are findings; suspects are confirmed. What is already known is left out.
  Result<void> settle(const Trial& trial, const Case& test_case) {
    std::vector<Violation> suspects;
    for (const Violation& violation : trial.violations) {
      if (is_found(violation.signature) || is_explained(violation)) continue;
      if (needs_confirmation(kernel_.op(), trial, violation))
        suspects.push_back(violation);
      else
        add_finding(violation, trial, test_case, nullptr);
    }
    if (suspects.empty()) return {};
    ASSAY_TRY(const std::vector<Confirmed> results,
              confirm(kernel_, test_case, trial, suspects, options_.mode));
    for (std::size_t i = 0; i < suspects.size(); ++i) {
      std::erase_if(judgement_.lucky, [&](const LuckyReference& lucky) {
        return lucky.violation.signature == suspects[i].signature;
      });
      if (results[i].finding)
        add_finding(suspects[i], trial, test_case, &results[i]);
      else
        judgement_.lucky.push_back({suspects[i], results[i].severity, results[i].how});
    }
    return {};
  }

  // Whether the repeat has anything of its own to judge; differing bits become a finding unless declared.
  bool compare_bits(const Trial& first, const Trial& again) {
    if (first.tensors.size() != again.tensors.size()) return true;
    bool differs = !again.faults.empty();
    for (std::size_t i = 0; i < first.tensors.size(); ++i) {
      const bool comparable =
          first.target[i].size() == again.target[i].size(); // else one is not written whole
      const std::int64_t element = comparable ? first_difference(first.target[i], again.target[i]) : -1;
      differs = differs || !comparable || element >= 0;
      if (element < 0) continue;
      if (!kernel_.manifest().deterministic) continue;
      Violation violation;
      violation.signature = {
          kernel_.manifest().name, first.tensors[i].pass, first.tensors[i].name, Kind::nondeterministic, {}};
      const auto at = static_cast<std::size_t>(element);
      violation.message = fmt::format("{} is {} and, with another order of blocks and warps{}, {}",
                                      element_text(first.tensors[i].name, first.tensors[i].shape, element),
                                      value_text(first.target[i][at]),
                                      first.plan.keeps_state ? " or after an earlier launch" : "",
                                      value_text(again.target[i][at]));
      violation.element = element;
      violation.report = i;
      if (!is_found(violation.signature)) add_finding(violation, first, case_, nullptr);
    }
    return differs;
  }

  Kernel& kernel_;
  const Case& case_;
  const JudgeOptions& options_;
  Judgement judgement_;
};

} // namespace

Result<Judgement> judge(Kernel& kernel, const Case& test_case, const JudgeOptions& options) {
  return Judge(kernel, test_case, options).run();
}

std::optional<double> shows(Kernel& kernel, const Case& test_case, const Signature& signature) {
  if (signature.kind == Kind::nondeterministic) {
    const auto judged = judge(kernel, test_case, {JudgeMode::on_this_input, repeats_where_order_matters});
    if (!judged) return std::nullopt;
    for (const Finding& finding : judged->findings)
      if (finding.signature == signature) return finding.severity;
    return std::nullopt;
  }
  const auto trial = run_trial(kernel, test_case);
  if (!trial) return std::nullopt;
  const auto violation = std::ranges::find(trial->violations, signature, &Violation::signature);
  if (violation != trial->violations.end()) {
    if (!needs_confirmation(kernel.op(), *trial, *violation)) return std::numeric_limits<double>::infinity();
    const auto confirmed = confirm(kernel, test_case, *trial, {&*violation, 1}, JudgeMode::on_this_input);
    if (!confirmed) return std::nullopt;
    if (confirmed->front().finding) return confirmed->front().severity;
  }
  for (std::size_t i = 0; i < trial->tensors.size(); ++i)
    if (const auto finding = rms_finding(kernel, test_case, *trial, i);
        finding && finding->signature == signature)
      return finding->severity;
  return std::nullopt;
}

} // namespace assay
