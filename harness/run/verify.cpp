#include "harness/run/verify.h"

#include "harness/base/check.h"
#include "harness/base/since.h"
#include "harness/run/describe.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

namespace assay {

namespace {

constexpr int most_failing_cases = 40;      // the verdict has long been FAIL then
constexpr int runs_where_order_matters = 7; // beside the first

double condition_at(const Trial& trial, std::size_t i, std::int64_t element) {
  const std::vector<double>& magnitude = trial.golden[i].magnitude;
  if (element < 0 || magnitude.empty()) return 1;
  const auto at = static_cast<std::size_t>(element);
  return magnitude[at] == 0 ? 1 : magnitude[at] / std::fabs(trial.golden[i].value[at]);
}

class Verification {
 public:
  Verification(Kernel& kernel, const VerifyCases& cases, const VerifyProgress& progress)
      : kernel_(kernel), cases_(cases), progress_(progress), contracts_(kernel) {}

  Result<VerifyReport> run() {
    const auto begin = std::chrono::steady_clock::now();
    report_.kernel = kernel_.manifest().name;
    report_.device = kernel_.device().name();
    const int planned = static_cast<int>(cases_.cases.size());
    for (const VerifyCase& one : cases_.cases) {
      if (failing_ >= most_failing_cases) break;
      tell(report_.cases, planned, "case");
      ASSAY_TRY_VOID(run_case(one));
    }
    ASSAY_TRY_VOID(analyse_invalid_gates());
    finish_rows();
    report_.contracts = contracts_.contracts();
    report_.verdict = overall(report_);
    say_what_was_tested();
    say_what_was_not(planned);
    report_.seconds = since(begin);
    return std::move(report_);
  }

 private:
  void tell(int done, int planned, const std::string& what) const {
    if (progress_) progress_(done, planned, what);
  }

  int repeats_of(const VerifyCase& one) const {
    if (kernel_.has_atomics() || !kernel_.manifest().deterministic) return runs_where_order_matters;
    return one.repeat ? 1 : -1;
  }

  Result<void> run_case(const VerifyCase& one) {
    const int repeats = repeats_of(one);
    ASSAY_TRY(Judgement judgement, judge(kernel_, one.test_case, {JudgeMode::search, repeats}));
    ++report_.cases;
    report_.repeated += repeats > 0;
    ran_.push_back(&one.test_case);
    contracts_.take(judgement);
    if (one.repeat) ASSAY_TRY_VOID(contracts_.replay(one.test_case, judgement));
    failing_ += !judgement.findings.empty();
    for (std::size_t i = 0; i < judgement.trial.tensors.size(); ++i) take(judgement, one.test_case, i);
    for (Finding& finding : judgement.findings) keep(std::move(finding));
    for (LuckyReference& lucky : judgement.lucky) keep(std::move(lucky), one.test_case);
    return {};
  }

  std::size_t row_of(const TensorReport& report, DType dtype) {
    const auto [at, fresh] = row_index_.try_emplace({report.tensor, dtype}, report_.rows.size());
    if (fresh) {
      VerifyRow row;
      row.tensor = report.tensor;
      row.pass = report.pass;
      row.name = report.name;
      row.dtype = dtype;
      row.verdict = Verdict::pass;
      report_.rows.push_back(std::move(row));
    }
    return at->second;
  }

  void take(const Judgement& judgement, const Case& test_case, std::size_t i) {
    const TensorReport& report = judgement.trial.tensors[i];
    const auto is_about = [&](const Signature& s) {
      return s.output == report.name && s.pass == report.pass;
    };
    const bool failed =
        std::ranges::any_of(judgement.findings, [&](const Finding& f) { return is_about(f.signature); });
    const bool lucky = std::ranges::any_of(judgement.lucky, [&](const LuckyReference& reference) {
      return is_about(reference.violation.signature);
    });
    const Verdict verdict = case_verdict(report, failed, lucky);
    const std::size_t index = row_of(report, test_case.dtype);
    VerifyRow& row = report_.rows[index];
    const Comparison& comparison = report.comparison;
    ++row.cases;
    row.failed += failed;
    row.lucky += lucky && !failed;
    row.judged += report.exact ? std::ssize(judgement.trial.target[i]) : comparison.structure.judged;
    row.overflows += comparison.structure.formula_overflow;
    row.overflow_cases += comparison.structure.formula_overflow > 0;
    row.inexact_golden_cases += comparison.gate.lines.lines_invalid > 0 && report.gate_valid();
    const bool valid = report.exact || report.gate_valid();
    row.gates_valid += valid;
    if (!valid && !failed) invalid(index, test_case, report.ratio());
    // A case in which every element overflowed says nothing: whether others said enough, finish_rows() asks.
    const bool silent =
        verdict == Verdict::inconclusive && valid && comparison.structure.formula_overflow > 0;
    if (!silent && (valid || failed)) row.verdict = worst(row.verdict, verdict);

    const int rank = failed ? 3 : !valid ? 2 : lucky ? 0 : 1;
    const std::pair<int, double> badness{rank, report.exact ? 0 : report.ratio()};
    const auto [known, first] = badness_.try_emplace(index, badness);
    if (!first && badness <= known->second) return;
    known->second = badness;
    row.worst_case = test_case;
    row.worst = report;
    row.statistics = {};
    if (!report.exact && !judgement.trial.target[i].empty())
      row.statistics = statistics_of(judgement.trial, i);
    row.condition = report.exact ? 1 : condition_at(judgement.trial, i, comparison.gate.worst_element);
  }

  // Gates that are not valid on the same data but for shape and seed are one question.
  void invalid(std::size_t row, const Case& test_case, double ratio) {
    std::string key = fmt::format("{}", row);
    for (const TensorInput& input : test_case.inputs) key += " " + to_text(input.distribution);
    for (const auto& [name, value] : test_case.params) key += fmt::format(" {}={}", name, value);
    const auto [at, fresh] = invalid_index_.try_emplace(key, report_.invalid_gates.size());
    if (fresh) report_.invalid_gates.push_back({row, 0, test_case, ratio, {}});
    InvalidGate& gate = report_.invalid_gates[at->second];
    ++gate.cases;
    if (ratio > gate.ratio) {
      gate.ratio = ratio;
      gate.test_case = test_case;
    }
  }

  void keep(Finding finding) {
    for (VerifyFinding& known : report_.findings)
      if (known.finding.signature == finding.signature &&
          known.finding.test_case.dtype == finding.test_case.dtype) {
        ++known.cases;
        if (finding.severity > known.finding.severity) known.finding = std::move(finding);
        return;
      }
    report_.findings.push_back({std::move(finding), 1});
  }

  void keep(LuckyReference lucky, const Case& test_case) {
    for (VerifyLucky& known : report_.lucky)
      if (known.reference.violation.signature == lucky.violation.signature &&
          known.test_case.dtype == test_case.dtype) {
        ++known.cases;
        if (lucky.severity <= known.reference.severity) return;
        known.reference = std::move(lucky);
        known.test_case = test_case;
        return;
      }
    report_.lucky.push_back({std::move(lucky), test_case, 1});
  }

  Result<void> analyse_invalid_gates() {
    const int planned = static_cast<int>(report_.invalid_gates.size());
    int done = 0;
    for (InvalidGate& gate : report_.invalid_gates) {
      tell(done++, planned, "invalid gate");
      VerifyRow& row = report_.rows[gate.row];
      if (row.verdict == Verdict::fail) {
        gate.analysis.why = "not analysed: the output fails elsewhere";
        continue;
      }
      ASSAY_TRY(const Trial trial, run_trial(kernel_, gate.test_case));
      const auto report = std::ranges::find(trial.tensors, row.tensor, &TensorReport::tensor);
      ASSAY_CHECK(report != trial.tensors.end(), "{} is gone when its case runs again", row.name);
      const auto i = static_cast<std::size_t>(report - trial.tensors.begin());
      ASSAY_TRY(gate.analysis, analyse(kernel_, gate.test_case, trial, i));
      row.verdict = worst(row.verdict, gate.analysis.verdict);
    }
    return {};
  }

  void finish_rows() {
    for (std::size_t r = 0; r < report_.rows.size(); ++r) {
      VerifyRow& row = report_.rows[r];
      std::vector<std::string> why;
      int open = 0, resolved = 0, condemned = 0;
      for (const InvalidGate& gate : report_.invalid_gates) {
        if (gate.row != r) continue;
        open += gate.analysis.verdict == Verdict::inconclusive;
        condemned += gate.analysis.verdict == Verdict::fail;
        resolved += gate.analysis.verdict == Verdict::pass_with_limitations;
      }
      if (row.failed > 0) why.push_back(fmt::format("{} of {} cases fail", row.failed, row.cases));
      if (condemned > 0) why.push_back(fmt::format("{} invalid gates show errors of its own", condemned));
      if (open > 0) why.push_back(fmt::format("{} invalid gates stay open", open));
      if (resolved > 0) why.push_back(fmt::format("{} kinds of data make the gate invalid", resolved));
      if (row.overflow_cases > 0) {
        row.verdict = worst(row.verdict, Verdict::pass_with_limitations);
        why.push_back(fmt::format("the formula itself overflows at {} elements of {} cases", row.overflows,
                                  row.overflow_cases));
      }
      if (row.inexact_golden_cases > 0) {
        row.verdict = worst(row.verdict, Verdict::pass_with_limitations);
        why.push_back(fmt::format("lines with too inexact a golden in {} cases", row.inexact_golden_cases));
      }
      if (row.judged == 0) {
        row.verdict = worst(row.verdict, Verdict::inconclusive);
        why.push_back("no element was judged");
      }
      row.why = fmt::format("{}", fmt::join(why, "; "));
    }
    std::ranges::sort(report_.findings, {}, [](const VerifyFinding& found) {
      return std::pair(found.finding.signature.kind, -found.finding.severity);
    });
  }

  void say_what_was_tested() {
    std::map<std::string, std::set<std::int64_t>> sizes;
    std::set<DType> dtypes;
    std::set<Pass> passes;
    std::set<std::string> kinds, params;
    for (const Case* one : ran_) {
      for (const auto& [name, size] : one->dims) sizes[name].insert(size);
      dtypes.insert(one->dtype);
      passes.insert(one->pass);
      bool laid_out = false;
      for (const TensorInput& input : one->inputs) {
        kinds.insert(input.distribution.kind);
        laid_out |= !input.layout.strides.empty() || input.layout.offset != 0;
      }
      report_.strided += laid_out;
      for (const auto& [name, value] : one->params)
        params.insert(fmt::format("{}={}", name, value_text(value)));
    }
    for (const DimRange& range : kernel_.space().dims)
      report_.sizes.emplace_back(
          range.name, std::vector<std::int64_t>(sizes[range.name].begin(), sizes[range.name].end()));
    report_.dtypes.assign(dtypes.begin(), dtypes.end());
    report_.passes.assign(passes.begin(), passes.end());
    for (const DistributionRule& rule : distribution_rules()) // from simple to complicated
      if (kinds.contains(std::string(rule.name))) report_.distributions.emplace_back(rule.name);
    report_.params.assign(params.begin(), params.end());
  }

  void say_what_was_not(int planned) {
    std::vector<std::string>& lines = report_.not_covered;
    if (report_.cases < planned)
      lines.push_back(fmt::format("{} of {} cases: stopped after {} that fail", planned - report_.cases,
                                  planned, failing_));
    if (!kernel_.not_tested().empty())
      lines.push_back(fmt::format("{}: no launch takes it, nothing is known of it",
                                  fmt::join(kernel_.not_tested(), ", ")));
    for (const DimRange& range : kernel_.space().dims) {
      const auto sizes =
          std::ranges::find(report_.sizes, range.name, &decltype(report_.sizes)::value_type::first);
      const std::int64_t largest = sizes->second.empty() ? 0 : sizes->second.back();
      if (range.max > largest)
        lines.push_back(fmt::format("{} above {} (the manifest allows {})", range.name, largest, range.max));
    }
    lines.insert(lines.end(), cases_.not_covered.begin(), cases_.not_covered.end());
    lines.push_back("sizes and combinations of them between those listed, other seeds and parameters of the "
                    "distributions: assay fuzz searches there");
    lines.push_back(report_.device.starts_with("cuda")
                        ? "other GPUs, other versions of the compiler; speed"
                        : "a GPU: its own functions, its scheduling, its speed");
  }

  Kernel& kernel_;
  const VerifyCases& cases_;
  const VerifyProgress& progress_;
  VerifyReport report_;
  Contracts contracts_;
  std::vector<const Case*> ran_;
  std::map<std::pair<std::size_t, DType>, std::size_t> row_index_;
  std::map<std::size_t, std::pair<int, double>> badness_;
  std::map<std::string, std::size_t> invalid_index_;
  int failing_ = 0;
};

} // namespace

Verdict case_verdict(const TensorReport& report, bool failed, bool explained) {
  if (failed) return Verdict::fail;
  if (report.exact) return report.mismatches == 0 ? Verdict::pass : Verdict::fail;
  const Comparison& comparison = report.comparison;
  const Gate& gate = comparison.gate;
  const bool finite =
      std::isfinite(gate.threshold) && (gate.lines.line < 0 || std::isfinite(gate.lines.threshold));
  if (comparison.internal_fault || !finite) return Verdict::inconclusive;
  const Verdict verdict = verdict_of(comparison);
  return verdict == Verdict::fail && explained ? Verdict::pass : verdict;
}

Verdict overall(const VerifyReport& report) {
  if (!report.findings.empty()) return Verdict::fail;
  if (std::ranges::find(report.contracts, ContractState::broken, &Contract::state) != report.contracts.end())
    return Verdict::fail;
  Verdict verdict = Verdict::pass;
  std::int64_t judged = 0;
  for (const VerifyRow& row : report.rows) {
    verdict = worst(verdict, row.verdict);
    judged += row.judged;
  }
  return judged == 0 ? worst(verdict, Verdict::inconclusive) : verdict;
}

Result<VerifyReport> verify(Kernel& kernel, const VerifyCases& cases, const VerifyProgress& progress) {
  return Verification(kernel, cases, progress).run();
}

Result<VerifyReport> verify(Kernel& kernel, const VerifyProgress& progress) {
  return verify(kernel, verify_cases(kernel.space()), progress);
}

} // namespace assay
