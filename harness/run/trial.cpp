#include "harness/run/trial.h"

#include "harness/base/check.h"
#include "harness/base/parallel.h"
#include "harness/inputs/fill.h"
#include "harness/numerics/bulk.h"
#include "harness/numerics/error_sum.h"
#include "harness/numerics/ulp.h"
#include "harness/run/describe.h"
#include "harness/run/earned_nan.h"
#include "harness/run/execute.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

namespace assay {

namespace {

constexpr std::int64_t bias_suspect_elements = 256; // fewer say nothing, even pooled over all redraws

bool is_finite(const Tensor& input) {
  constexpr std::size_t block = 1024; // of which no memory is asked for
  const auto count = static_cast<std::size_t>(input.element_count()), size = size_of(input.dtype);
  const std::size_t blocks = (count + block - 1) / block;
  return blocks == first_where(blocks, least_elements / block, [&](std::size_t k) {
           std::array<double, block> buffer;
           const std::size_t begin = k * block;
           const std::span<double> values = std::span(buffer).first(std::min(block, count - begin));
           widen(input.dtype, std::span(input.bytes).subspan(begin * size, values.size() * size), values);
           double sum = 0; // of x - x: 0 where x is finite, else NaN
           for (const double x : values) sum += x - x;
           return sum != 0;
         });
}

// Judges one execution on inputs whose golden and reference are known.
class Assessment {
 public:
  Assessment(const Kernel& kernel, const Case& test_case, Trial& trial)
      : kernel_(&kernel), case_(&test_case), trial_(&trial) {}

  void run(Execution execution) {
    take_faults(execution);
    if (execution.finished)
      for (std::size_t i = 0; i < trial_->tensors.size(); ++i) judge(i, execution);
    else
      trial_->tensors.clear();
    std::ranges::sort(trial_->violations, {}, [](const Violation& violation) {
      const Signature& s = violation.signature;
      return std::tie(s.kind, s.output, s.place.file, s.place.line, s.pass);
    });
  }

 private:
  Signature signature(Pass pass, const std::string& output, Kind kind, const Place& place = {}) const {
    return {kernel_->manifest().name, pass, output, kind, place};
  }

  void add(Violation violation) {
    for (const Violation& known : trial_->violations)
      if (known.signature == violation.signature) return;
    trial_->violations.push_back(std::move(violation));
  }

  void take_faults(Execution& execution) {
    for (SeenFault& seen : execution.faults) {
      if (!seen.fault.note) {
        const Kind kind = seen.fault.kind;
        const bool about_memory =
            kind != Kind::launch && kind != Kind::trap && kind != Kind::barrier && kind != Kind::timeout;
        const Place line = kind == Kind::launch || kind == Kind::timeout
                               ? Place{}
                               : Place{std::filesystem::path(seen.fault.place.file).filename().string(),
                                       seen.fault.place.line, 0};
        Violation violation;
        violation.signature = signature(seen.pass, about_memory ? seen.fault.buffer : "", kind, line);
        violation.message = seen.fault.message;
        add(std::move(violation));
      }
      trial_->faults.push_back(std::move(seen.fault));
    }
  }

  void judge(std::size_t i, Execution& execution) {
    TensorReport& report = trial_->tensors[i];
    const auto& unwritten = execution.unwritten[report.tensor];
    if (!unwritten.empty()) {
      report.worst = unwritten.front();
      violate(i, Kind::unwritten, report.worst,
              fmt::format("{} was never written", element_text(report.name, report.shape, report.worst)));
      return;
    }
    trial_->target[i] = widen(execution.outputs[report.tensor]);
    if (report.pass == Pass::backward && !inputs_are_finite()) return; // no one defines such gradients
    if (report.exact) return judge_exact(i);
    judge_gate(i);
    if (!report.comparison.structure.passed()) return;
    if (kernel_->op().info().elementwise && report.pass == Pass::forward) judge_ulps(i);
    // Bias is for what the gate cannot see.
    if (bias_applies(report.dtype) && !report.comparison.suspect()) judge_bias(i);
  }

  bool inputs_are_finite() {
    if (!inputs_are_finite_)
      inputs_are_finite_ = std::ranges::none_of(trial_->inputs, [](const Tensor& input) {
        return is_float(input.dtype) && !input.bytes.empty() && !is_finite(input);
      });
    return *inputs_are_finite_;
  }

  Violation& violate(std::size_t i, Kind kind, std::int64_t element, std::string message) {
    const TensorReport& report = trial_->tensors[i];
    Violation violation;
    violation.signature = signature(report.pass, report.name, kind);
    violation.message = std::move(message);
    violation.element = element;
    violation.report = i;
    trial_->violations.push_back(std::move(violation));
    return trial_->violations.back();
  }

  void look_at(std::size_t i, std::int64_t element) {
    TensorReport& report = trial_->tensors[i];
    report.worst = element;
    if (element < 0) return;
    const auto at = static_cast<std::size_t>(element);
    report.golden = trial_->golden[i].value[at];
    report.reference = trial_->reference[i].value[at];
    report.target = trial_->target[i][at];
  }

  std::string three(std::size_t i) const {
    const TensorReport& report = trial_->tensors[i];
    return fmt::format("{} = {}, golden {}, reference {}",
                       element_text(report.name, report.shape, report.worst), value_text(report.target),
                       value_text(report.golden), value_text(report.reference));
  }

  void judge_exact(std::size_t i) {
    TensorReport& report = trial_->tensors[i];
    const Evaluated& golden = trial_->golden[i];
    std::vector<double> rounded(golden.value.size());
    round_values(report.dtype, golden.value, golden.value_low, rounded);
    const ExactResult result = compare_exact(rounded, golden.alternative, trial_->target[i]);
    report.mismatches = result.mismatches;
    if (result.mismatches == 0) return;
    look_at(i, result.first);
    if (result.misplaced < result.mismatches)
      violate(i, Kind::mismatch, result.first,
              fmt::format("{}; {} of {} elements differ, where all must be equal", three(i),
                          result.mismatches, golden.value.size()));
    if (result.misplaced == 0) return;
    look_at(i, result.first_misplaced);
    violate(i, Kind::structure, result.first_misplaced,
            fmt::format("{}; NaN or infinity is out of place in {} of {} elements", three(i),
                        result.misplaced, golden.value.size()));
  }

  void judge_gate(std::size_t i) {
    TensorReport& report = trial_->tensors[i];
    report.comparison =
        compare(comparands_of(*trial_, i), gate_rule(*trial_, i, case_->tolerance, kernel_->op().info()));
    const Structure& structure = report.comparison.structure;
    const Gate& gate = report.comparison.gate;
    ASSAY_CHECK(!report.comparison.internal_fault, "the threshold of {} is not finite", report.name);
    const bool by_line = gate.lines.ratio > gate.ratio;
    look_at(i, by_line ? gate.lines.element : gate.worst_element);
    if (gate.valid() && !gate.passed()) {
      Violation& violation =
          violate(i, Kind::gate, report.worst,
                  fmt::format("{}; error {}, {}threshold {}", three(i),
                              value_text(by_line ? gate.lines.target_error : gate.target_error),
                              by_line ? "the line's " : "",
                              value_text(by_line ? gate.lines.threshold : gate.threshold)));
      violation.ratio = gate.worst_ratio();
      violation.line = by_line ? gate.lines.line : -1;
    }
    if (structure.passed()) return;
    look_at(i, structure.first_wrong);
    violate(i, Kind::structure, structure.first_wrong,
            fmt::format("{}; NaN or infinity is out of place in {} of {} elements", three(i), structure.wrong,
                        trial_->target[i].size()));
  }

  void judge_ulps(std::size_t i) {
    TensorReport& report = trial_->tensors[i];
    const Evaluated& golden = trial_->golden[i];
    std::vector<double> rounded(golden.value.size());
    round_values(report.dtype, golden.value, golden.value_low, rounded);
    std::vector<std::uint64_t> legal(rounded.size());
    widen_distances(report.dtype, rounded, trial_->reference[i].value, legal);
    const double limit = ulp_limit(case_->tolerance, report.dtype, kernel_->op().info());
    const UlpResult result = check_ulps(report.dtype, rounded, trial_->target[i], legal, limit,
                                        ulp_exclusions(*trial_, i, case_->tolerance));
    if (result.violations == 0) return;
    report.ulp_distance = result.worst_distance;
    look_at(i, result.worst_element);
    Violation& violation = violate(i, Kind::ulp, result.worst_element,
                                   fmt::format("{}; {} representable values off, {} allowed", three(i),
                                               result.worst_distance, result.allowed));
    violation.ratio =
        static_cast<double>(result.worst_distance) / std::max(1.0, static_cast<double>(result.allowed));
  }

  void judge_bias(std::size_t i) {
    const double least =
        least_unflushed(gate_rule(*trial_, i, case_->tolerance, kernel_->op().info()).flush_terms);
    const Comparands comparands = comparands_of(*trial_, i);
    const ErrorSum sum = sum_of_errors(comparands, trial_->target[i], least);
    if (sum.count < bias_suspect_elements || std::abs(sum.sum) <= bias_limit * static_cast<double>(sum.count))
      return;
    std::vector<double> rounded(comparands.golden.size());
    round_values(comparands.dtype, comparands.golden, comparands.golden_low, rounded);
    const std::vector<std::uint8_t> decided = decided_roundings(comparands, rounded);
    SignedErrors errors;
    pool(errors, comparands, trial_->target[i], least, decided);
    const MeanError target = mean_error(errors);
    SignedErrors reference_errors;
    pool(reference_errors, comparands, trial_->reference[i].value, least, decided);
    const MeanError reference = mean_error(reference_errors);
    if (std::abs(target.mean) <= bias_sigmas * target.standard_error ||
        std::abs(reference.mean) >= legal_bias_limit)
      return;
    Violation& violation = violate(
        i, Kind::bias, -1,
        fmt::format("{} is off by {} ULP on average (away from zero) over {} elements, the reference by {}",
                    trial_->tensors[i].name, value_text(target.mean), target.count,
                    value_text(reference.mean)));
    violation.ratio = std::abs(target.mean) / bias_limit;
  }

  const Kernel* kernel_;
  const Case* case_;
  Trial* trial_;
  std::optional<bool> inputs_are_finite_;
};

std::vector<Tensor> fill_inputs(const Plan& plan, const Case& test_case) {
  std::vector<Tensor> inputs(plan.tensors.size());
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlannedTensor& tensor = plan.tensors[i];
    const Role role = tensor.info->role;
    if (!tensor.present || (role != Role::input && role != Role::upstream)) continue;
    const auto input = std::ranges::find(test_case.inputs, tensor.info->name, &TensorInput::tensor);
    ASSAY_CHECK(input != test_case.inputs.end(), "check_case() let a case without '{}' through",
                tensor.info->name);
    fill_into(inputs[i], *input, tensor.dtype, tensor.shape, tensor.info->domain, test_case.dims);
  }
  return inputs;
}

// The tested outputs as empty reports, in OpInfo order.
std::vector<TensorReport> reports_of(const Plan& plan, const OpInfo& op) {
  std::vector<TensorReport> reports;
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlannedTensor& tensor = plan.tensors[i];
    if (!tensor.tested) continue;
    TensorReport report;
    report.tensor = i;
    report.pass = plan.pass;
    report.name = tensor.info->name;
    report.dtype = tensor.dtype;
    report.shape = tensor.shape;
    report.exact = op.exact || !is_float(tensor.dtype);
    reports.push_back(std::move(report));
  }
  return reports;
}

} // namespace

Problem problem_of(const Plan& plan, std::span<const Tensor> inputs) {
  Problem problem{plan.pass, plan.dtype, plan.dims, plan.params, {}};
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const Role role = plan.tensors[i].info->role;
    if (role == Role::input || (role == Role::upstream && plan.pass == Pass::backward))
      problem.tensors.push_back(&inputs[i]);
  }
  return problem;
}

std::vector<Evaluated> evaluate_tested(const Op& op, const Trial& trial, const Instrument& instrument) {
  std::vector<Evaluated> all = op.evaluate(problem_of(trial.plan, trial.inputs), instrument);
  std::vector<Evaluated> tested;
  for (const TensorReport& report : trial.tensors) {
    const auto found = std::ranges::find(all, report.name, &Evaluated::tensor);
    ASSAY_CHECK(found != all.end(), "operator {} did not evaluate '{}'", op.info().name, report.name);
    tested.push_back(std::move(*found));
  }
  return tested;
}

double ulp_limit(const Tolerance& tolerance, DType dtype, const OpInfo& op) {
  if (tolerance.max_ulp) return *tolerance.max_ulp;
  return dtype == DType::f32 || dtype == DType::f64 ? op.max_ulp_f32 : op.max_ulp_narrow;
}

Comparands comparands_of(const Trial& trial, std::size_t i) {
  const Evaluated& golden = trial.golden[i];
  Comparands comparands;
  comparands.dtype = trial.tensors[i].dtype;
  comparands.golden = golden.value;
  comparands.golden_low = golden.value_low;
  comparands.golden_bound = golden.bound;
  comparands.magnitude = golden.magnitude;
  comparands.formula_overflows = golden.formula_overflows;
  comparands.line_starts = golden.line_starts;
  comparands.reference = trial.reference[i].value;
  comparands.target = trial.target[i];
  return comparands;
}

std::vector<std::uint8_t> ulp_exclusions(const Trial& trial, std::size_t i, const Tolerance& tolerance) {
  const Evaluated& golden = trial.golden[i];
  std::vector<std::uint8_t> excluded = golden.formula_overflows;
  if (!tolerance.flush_subnormals) return excluded;
  excluded.resize(golden.value.size());
  in_ranges(excluded.size(), least_elements, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k)
      if (std::fabs(trial.target[i][k] - golden.value[k]) <= 0x1p-126) excluded[k] = 1;
  });
  return excluded;
}

GateRule gate_rule(const Trial& trial, std::size_t i, const Tolerance& tolerance, const OpInfo& op) {
  GateRule rule{tolerance.fudge, tolerance.atol, tolerance.reference_limit, 0};
  if (!tolerance.flush_subnormals) return rule;
  rule.flush_terms = 1;
  if (!op.reduces) return rule;
  // The longest sum behind a line is no longer than the largest input spread over the lines, or, where
  // indices may send everything to one place, than an input is along the dims that the output lacks.
  const std::vector<std::string>& axes = trial.plan.tensors[trial.tensors[i].tensor].info->shape;
  std::int64_t largest = 1, met = 1;
  for (std::size_t k = 0; k < trial.inputs.size(); ++k) {
    const Tensor& input = trial.inputs[k];
    if (input.shape.empty()) continue;
    largest = std::max(largest, input.element_count());
    std::int64_t along = 1;
    for (std::size_t d = 0; d < input.shape.size(); ++d)
      if (std::ranges::find(axes, trial.plan.tensors[k].info->shape[d]) == axes.end())
        along *= input.shape[d];
    met = std::max(met, along);
  }
  const auto lines = std::max<std::int64_t>(1, std::ssize(trial.golden[i].line_starts) - 1);
  const double spread = std::ceil(static_cast<double>(largest) / static_cast<double>(lines));
  rule.flush_terms = std::max({1.0, spread, static_cast<double>(met)});
  return rule;
}

TensorStatistics statistics_of(const Trial& trial, std::size_t i) {
  const Comparands comparands = comparands_of(trial, i);
  TensorStatistics statistics;
  statistics.rms = rms_errors(comparands);
  SignedErrors target, reference;
  pool(target, comparands, trial.target[i]);
  pool(reference, comparands, trial.reference[i].value);
  statistics.target_bias = mean_error(target);
  statistics.reference_bias = mean_error(reference);
  return statistics;
}

Result<Trial> run_trial(Kernel& kernel, const Case& test_case) {
  Trial trial;
  ASSAY_TRY(trial.plan, kernel.plan(test_case));
  trial.inputs = fill_inputs(trial.plan, test_case);
  ASSAY_TRY(Execution execution, execute(kernel.device(), trial.plan, trial.inputs, test_case.schedule_seed));
  if (execution.finished) {
    trial.tensors = reports_of(trial.plan, kernel.op().info());
    Instrument golden;
    golden.number = Instrument::Number::golden;
    trial.golden = evaluate_tested(kernel.op(), trial, golden);
    trial.reference = evaluate_tested(kernel.op(), trial, {});
    expect_earned_nans(kernel.op(), trial, trial.reference, {});
    trial.target.resize(trial.tensors.size());
  }
  Assessment(kernel, test_case, trial).run(std::move(execution));
  return trial;
}

Result<Trial> repeat_trial(Kernel& kernel, const Case& test_case, const Trial& first,
                           std::uint64_t schedule_seed) {
  Trial trial;
  trial.plan = first.plan;
  trial.inputs = first.inputs;
  ASSAY_TRY(Execution execution, execute(kernel.device(), trial.plan, trial.inputs, schedule_seed));
  if (execution.finished) {
    trial.tensors = reports_of(trial.plan, kernel.op().info());
    trial.golden = first.golden;
    trial.reference = first.reference;
    trial.target.resize(trial.tensors.size());
  }
  Assessment(kernel, test_case, trial).run(std::move(execution));
  return trial;
}

} // namespace assay
