#include "harness/run/confirm.h"

#include "harness/base/check.h"
#include "harness/base/hash.h"
#include "harness/numerics/bulk.h"
#include "harness/numerics/confirmation.h"
#include "harness/numerics/formats.h"
#include "harness/numerics/ulp.h"
#include "harness/run/describe.h"
#include "harness/run/earned_nan.h"
#include "harness/run/envelope.h"
#include "harness/run/near_overflow.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

namespace assay {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The comparison of trial.tensors[i] with the envelope in place of the reference.
Comparison by_envelope(const Trial& trial, std::size_t i, const Envelope& envelope,
                       const Tolerance& tolerance, const OpInfo& op) {
  Comparands comparands = comparands_of(trial, i);
  comparands.envelope_error = envelope.error(i);
  return compare(comparands, gate_rule(trial, i, tolerance, op));
}

// With `bounds`, of the elements alone that are off by more than their rigorous bound and a unit in the last
// place.
UlpResult ulps_by_envelope(const Trial& trial, std::size_t i, const Envelope& envelope,
                           const Tolerance& tolerance, const OpInfo& op,
                           std::span<const double> bounds = {}) {
  const Evaluated& golden = trial.golden[i];
  const DType dtype = trial.tensors[i].dtype;
  std::vector<double> rounded(golden.value.size());
  round_values(dtype, golden.value, golden.value_low, rounded);
  std::vector<std::uint8_t> excluded = ulp_exclusions(trial, i, tolerance);
  if (!bounds.empty()) excluded.resize(rounded.size());
  for (std::size_t k = 0; k < bounds.size(); ++k)
    if (std::abs(trial.target[i][k] - golden.value[k]) <= bounds[k] + spacing(dtype, golden.value[k]))
      excluded[k] = 1;
  return check_ulps(dtype, rounded, trial.target[i], envelope.distance(i), ulp_limit(tolerance, dtype, op),
                    excluded);
}

// target_error / threshold', or what it is in units of the output's last place where that is less: where
// every legal evaluation is exact or nearly so, threshold' says nothing, and a marginal fault would shrink
// into such an input, where any bit off looks gross.
double severity_of(const Gate& gate, const Trial& trial, std::size_t i) {
  const auto ratio = [&](double error, double plain, std::int64_t element) {
    if (!(plain > 1) || element < 0) return plain;
    const double unit =
        spacing(trial.tensors[i].dtype, trial.golden[i].value[static_cast<std::size_t>(element)]);
    return std::max(1.0, std::min(plain, error / unit));
  };
  return std::max(ratio(gate.target_error, gate.ratio, gate.worst_element),
                  ratio(gate.lines.target_error, gate.lines.ratio, gate.lines.element));
}

double bound_at(const std::vector<double>& bounds, std::int64_t element) {
  return bounds.empty() || element < 0 ? infinity : bounds[static_cast<std::size_t>(element)];
}

// Both rules of the gate as suspects in the sense of numerics/confirmation.h: the whole tensor, and the worst
// line.
std::vector<Suspect> suspects_of(const Gate& gate, double fudge, const std::vector<double>& bounds) {
  std::vector<Suspect> suspects;
  if (gate.ratio > 1)
    suspects.push_back({fudge, gate.target_error, gate.reference_error, gate.absolute_floor,
                        gate.golden_bound, bound_at(bounds, gate.worst_element)});
  const LineGate& line = gate.lines;
  if (line.lines_over > 0)
    suspects.push_back({fudge, line.target_error, line.reach, line.floor, line.golden_bound,
                        bound_at(bounds, line.element)});
  return suspects;
}

// Widens the envelope of one trial until it explains tensors[i], or is complete.
Gate widened_gate(const Op& op, const Trial& trial, std::size_t i, std::vector<Instrument> instruments,
                  const Tolerance& tolerance) {
  Envelope envelope(op, trial, std::move(instruments));
  for (;;) {
    Gate gate = by_envelope(trial, i, envelope, tolerance, op.info()).gate;
    if (gate.passed() || !envelope.widen()) return gate;
  }
}

// What the golden says of the line (of an elementwise operator: the element) that is furthest past its
// threshold. Where a redraw leaves that as it was, it is the same observation again.
std::uint64_t offence(const Op& op, const Trial& trial, std::size_t i, std::int64_t worst) {
  const std::vector<double>& golden = trial.golden[i].value;
  if (worst < 0) return 0;
  std::int64_t first = worst, end = worst + 1;
  if (!op.info().elementwise) {
    const auto& starts = trial.golden[i].line_starts;
    const auto next = std::ranges::upper_bound(starts, worst);
    end = next == starts.end() ? std::ssize(golden) : *next;
    first = next == starts.begin() ? 0 : *std::prev(next);
  }
  const auto* begin = reinterpret_cast<const char*>(golden.data() + first);
  return content_hash64({begin, static_cast<std::size_t>(end - first) * sizeof(double)});
}

std::uint64_t offence(const Op& op, const Trial& trial, std::size_t i, const Gate& gate) {
  return offence(op, trial, i, gate.ratio > 1 ? gate.worst_element : gate.lines.element);
}

// The report of the same output in another trial; nullopt where that trial did not get so far.
std::optional<std::size_t> same_output(const Trial& trial, const TensorReport& report) {
  for (std::size_t i = 0; i < trial.tensors.size(); ++i)
    if (trial.tensors[i].tensor == report.tensor) return i;
  return std::nullopt;
}

class Confirmer {
 public:
  Confirmer(Kernel& kernel, const Case& test_case, const Trial& trial, JudgeMode mode)
      : kernel_(kernel), op_(kernel.op()), case_(test_case), trial_(trial), mode_(mode),
        instruments_(envelope_instruments(op_.info(), kernel.manifest(), trial.plan, kernel.approximates())),
        all_instruments_(instruments_) {
    std::ranges::copy(moving_instruments(op_.info(), kernel.manifest(), trial.plan),
                      std::back_inserter(all_instruments_));
  }

  Result<std::vector<Confirmed>> run(std::span<const Violation> suspects) {
    std::vector<Confirmed> results(suspects.size());
    std::vector<std::size_t> open;
    for (std::size_t k = 0; k < suspects.size(); ++k)
      if (suspects[k].signature.kind != Kind::bias) open.push_back(k);

    if (!open.empty()) {
      Envelope envelope(op_, trial_, all_instruments_);
      while (!open.empty() && envelope.widen())
        std::erase_if(open, [&](std::size_t k) { return explained(suspects[k], envelope, results[k]); });
      for (const std::size_t k : open) {
        results[k].evaluations = envelope.evaluations();
        switch (suspects[k].signature.kind) {
        case Kind::gate:
          ASSAY_TRY_VOID(confirm_gate(suspects[k], envelope, results[k]));
          break;
        case Kind::ulp:
          ASSAY_TRY_VOID(confirm_ulps(suspects[k], envelope, results[k]));
          break;
        default:
          ASSAY_TRY_VOID(confirm_structure(suspects[k], envelope, results[k]));
          break;
        }
      }
    }
    for (std::size_t k = 0; k < suspects.size(); ++k)
      if (suspects[k].signature.kind == Kind::bias) ASSAY_TRY_VOID(confirm_bias(suspects[k], results[k]));
    return results;
  }

 private:
  // (a). Leaves the numbers of the last comparison in `result`.
  bool explained(const Violation& suspect, const Envelope& envelope, Confirmed& result) {
    const std::size_t i = suspect.report;
    if (suspect.signature.kind == Kind::ulp) {
      const UlpResult ulps = ulps_by_envelope(trial_, i, envelope, case_.tolerance, op_.info());
      result.severity =
          static_cast<double>(ulps.worst_distance) / std::max(1.0, static_cast<double>(ulps.allowed));
      result.threshold = static_cast<double>(ulps.allowed);
      if (ulps.violations != 0) return false;
      result.severity = 1;
    } else {
      const Comparison comparison = by_envelope(trial_, i, envelope, case_.tolerance, op_.info());
      const Gate& gate = comparison.gate;
      const bool by_structure = suspect.signature.kind == Kind::structure;
      result.severity = !by_structure                   ? severity_of(gate, trial_, i)
                        : comparison.structure.passed() ? 1
                                                        : infinity;
      result.threshold = gate.lines.ratio > gate.ratio ? gate.lines.threshold : gate.threshold;
      if (by_structure ? !comparison.structure.passed() : !gate.passed()) return false;
    }
    result.evaluations = envelope.evaluations();
    result.how = fmt::format("explained by {} legal evaluations", envelope.evaluations());
    return true;
  }

  Result<void> confirm_gate(const Violation& suspect, const Envelope& envelope, Confirmed& result) {
    const std::size_t i = suspect.report;
    const Gate gate = by_envelope(trial_, i, envelope, case_.tolerance, op_.info()).gate;
    if (bounds_.empty()) bounds_ = rigorous_bounds(op_, trial_, kernel_.approximates());
    const std::vector<Suspect> rules = suspects_of(gate, case_.tolerance.fudge, bounds_[i]);
    ASSAY_CHECK(!rules.empty(), "a suspect of {} that the envelope explains", trial_.tensors[i].name);
    result.rigorous_bound = rules.front().rigorous_bound;
    const BeyondBound beyond =
        beyond_rigorous_bound(comparands_of(trial_, i), bounds_[i], gate.absolute_floor);
    const auto at_once = std::ranges::find_if(
        rules, [](const Suspect& rule) { return judge_on_input(rule) == Confirmation::finding_at_once; });
    if (beyond.element >= 0 || at_once != rules.end()) {
      result.finding = true;
      if (at_once == rules.end()) result.rigorous_bound = beyond.rigorous_bound;
      if (at_once != rules.end()) result.rigorous_bound = at_once->rigorous_bound;
      result.how = fmt::format("above the rigorous bound {}", value_text(result.rigorous_bound));
      return {};
    }
    if (mode_ == JudgeMode::on_this_input) {
      result.finding = true;
      result.how = fmt::format("above the envelope of {} legal evaluations", result.evaluations);
      return {};
    }
    std::set<std::uint64_t> offences{offence(op_, trial_, i, gate)};
    return confirm_by_redraws(rules.front(), result,
                              [&](const Trial& again) { return ratio_of(again, suspect, offences); });
  }

  // A right kernel's worst element among thousands is further off than a few evaluations are there, and
  // within the bound; then it takes redraws, as at the gate.
  Result<void> confirm_ulps(const Violation& suspect, const Envelope& envelope, Confirmed& result) {
    const std::size_t i = suspect.report;
    if (bounds_.empty()) bounds_ = rigorous_bounds(op_, trial_, kernel_.approximates());
    const OpInfo& info = op_.info();
    const bool beyond =
        ulps_by_envelope(trial_, i, envelope, case_.tolerance, info, bounds_[i]).violations != 0;
    if (beyond || mode_ == JudgeMode::on_this_input) {
      confirm(result, "further off than twice any of {} legal evaluations");
      return {};
    }
    const UlpResult ulps = ulps_by_envelope(trial_, i, envelope, case_.tolerance, info);
    std::set<std::uint64_t> offences{offence(op_, trial_, i, ulps.worst_element)};
    const Suspect rule{
        1, static_cast<double>(ulps.worst_distance), static_cast<double>(ulps.allowed), 0, 0, infinity};
    return confirm_by_redraws(rule, result,
                              [&](const Trial& again) { return ulp_ratio_of(again, suspect, offences); });
  }

  // A result beside the edge of overflow may fall on the other side of it by what no few evaluations show.
  Result<void> confirm_structure(const Violation& suspect, const Envelope& envelope, Confirmed& result) {
    const std::size_t i = suspect.report;
    if (bounds_.empty()) bounds_ = rigorous_bounds(op_, trial_, kernel_.approximates());
    const Gate gate = by_envelope(trial_, i, envelope, case_.tolerance, op_.info()).gate;
    const bool within =
        within_bound_of_overflow(trial_, i, envelope.error(i), bounds_[i],
                                 {case_.tolerance.fudge, gate.reference_error, gate.absolute_floor});
    if (!within || mode_ == JudgeMode::on_this_input) {
      confirm(result, "not so by the thresholds of {} legal evaluations");
      return {};
    }
    const Suspect rule{.target_error = infinity, .rigorous_bound = infinity};
    return confirm_by_redraws(rule, result, [&](const Trial& again) { return misplaced_in(again, suspect); });
  }

  // (c). `ratio_of`: of another trial, above 1 where it shows the same; nullopt where it tells nothing new.
  template <class RatioOf>
  Result<void> confirm_by_redraws(const Suspect& rule, Confirmed& result, const RatioOf& ratio_of) {
    std::set<std::uint64_t> inputs{fingerprint(trial_)};
    std::vector<double> ratios;
    int above = 0, left = confirmation_redraws;
    const double chance = 1.0 / (result.evaluations + 1);
    const int enough = exceedances_needed(confirmation_redraws, chance, confirmation_false_alarm);
    for (int k = 1; left > 0; ++k) {
      --left;
      ASSAY_TRY(const Trial again, run_trial(kernel_, redrawn(case_, static_cast<std::uint64_t>(k))));
      if (const std::optional<double> ratio = ratio_of(again);
          ratio && inputs.insert(fingerprint(again)).second) {
        ratios.push_back(*ratio);
        above += *ratio > 1;
      }
      const int drawn = static_cast<int>(ratios.size());
      if (drawn + left < confirmation_min_redraws) break;
      if (above + left < exceedances_needed(drawn + left, chance, confirmation_false_alarm)) break;
      if (drawn >= confirmation_min_redraws && above >= enough) break;
    }
    result.finding = judge_with_redraws(rule, ratios, result.evaluations) == Confirmation::finding_by_share;
    result.how = fmt::format("{} of {} redraws above threshold'", above, ratios.size());
    return {};
  }

  // nullopt: it tells nothing new.
  std::optional<double> ratio_of(const Trial& again, const Violation& suspect,
                                 std::set<std::uint64_t>& offences) const {
    const auto i = comparable_output(again, suspect);
    if (!i) return infinity; // worse than a number
    const Gate gate = widened_gate(op_, again, *i, all_instruments_, case_.tolerance);
    if (gate.worst_ratio() > 1 && !offences.insert(offence(op_, again, *i, gate)).second) return std::nullopt;
    return gate.worst_ratio();
  }

  std::optional<double> ulp_ratio_of(const Trial& again, const Violation& suspect,
                                     std::set<std::uint64_t>& offences) const {
    const auto i = comparable_output(again, suspect);
    if (!i) return infinity;
    Envelope envelope(op_, again, all_instruments_);
    for (;;) {
      const UlpResult ulps = ulps_by_envelope(again, *i, envelope, case_.tolerance, op_.info());
      if (ulps.violations == 0) return 1;
      if (envelope.widen()) continue;
      if (!offences.insert(offence(op_, again, *i, ulps.worst_element)).second) return std::nullopt;
      return infinity;
    }
  }

  std::optional<double> misplaced_in(const Trial& again, const Violation& suspect) const {
    const auto i = same_output(again, trial_.tensors[suspect.report]);
    if (!i || again.target[*i].empty()) return infinity;
    Envelope envelope(op_, again, all_instruments_);
    do {
      if (by_envelope(again, *i, envelope, case_.tolerance, op_.info()).structure.passed()) return 1;
    } while (envelope.widen());
    return infinity;
  }

  // The suspect's output in another trial; nullopt where that trial did not get so far, or has NaN elsewhere.
  std::optional<std::size_t> comparable_output(const Trial& again, const Violation& suspect) const {
    const auto i = same_output(again, trial_.tensors[suspect.report]);
    const bool comparable = i && again.target[*i].empty() == trial_.target[suspect.report].empty() &&
                            again.tensors[*i].comparison.structure.passed();
    return comparable ? i : std::nullopt;
  }

  static void confirm(Confirmed& result, fmt::format_string<int&> how) {
    result.finding = true;
    result.how = fmt::format(how, result.evaluations);
  }

  // Pooled over redraws until there are elements enough, of those on which G and every legal evaluation
  // agree.
  Result<void> confirm_bias(const Violation& suspect, Confirmed& result) {
    SignedErrors target, legal;
    std::int64_t seen_elements = 0;
    const auto pool_trial = [&](const Trial& trial, std::size_t i) {
      const Comparands comparands = comparands_of(trial, i);
      std::vector<double> rounded(comparands.golden.size());
      round_values(comparands.dtype, comparands.golden, comparands.golden_low, rounded);
      std::vector<std::uint8_t> decided = decided_roundings(comparands, rounded);
      keep_decided(rounded, trial.reference[i].value, decided);
      for (const Instrument& instrument : instruments_)
        keep_decided(rounded, evaluate_tested(op_, trial, instrument)[i].value, decided);
      const double least = least_unflushed(gate_rule(trial, i, case_.tolerance, op_.info()).flush_terms);
      pool(target, comparands, trial.target[i], least, decided);
      pool(legal, comparands, rounded, least, decided);
      seen_elements += std::ssize(rounded);
    };
    pool_trial(trial_, suspect.report);
    std::set<std::uint64_t> seen{fingerprint(trial_)};
    for (int k = 1; k <= confirmation_redraws && std::ssize(target.error) < bias_min_elements; ++k) {
      ASSAY_TRY(const Trial again, run_trial(kernel_, redrawn(case_, static_cast<std::uint64_t>(k))));
      const auto i = same_output(again, trial_.tensors[suspect.report]);
      if (!i || !seen.insert(fingerprint(again)).second || again.target[*i].empty()) continue;
      pool_trial(again, *i);
    }
    const MeanError target_mean = mean_error(target), legal_mean = mean_error(legal);
    const BiasResult bias = check_bias(target_mean, legal_mean);
    result.finding = bias.biased;
    result.severity = std::abs(target_mean.mean) / bias_limit;
    result.threshold = bias_limit;
    result.rigorous_bound = infinity;
    result.evaluations = static_cast<int>(instruments_.size()) + 1;
    result.how = bias.enough
                     ? fmt::format("mean {} ULP over the {} elements (of {}) on which {} legal evaluations "
                                   "agree, theirs {}",
                                   value_text(target_mean.mean), target_mean.count, seen_elements,
                                   result.evaluations, value_text(legal_mean.mean))
                     : fmt::format("legal evaluations agree on {} elements, and a mean needs {}",
                                   target_mean.count, bias_min_elements);
    return {};
  }

  Kernel& kernel_;
  const Op& op_;
  const Case& case_;
  const Trial& trial_;
  JudgeMode mode_;
  std::vector<Instrument> instruments_, all_instruments_; // all: and those that move exact results
  std::vector<std::vector<double>> bounds_;
};

} // namespace

bool needs_confirmation(const Op& op, const Trial& trial, const Violation& violation) {
  switch (violation.signature.kind) {
  case Kind::gate:
  case Kind::ulp:
  case Kind::bias:
    return true;
  case Kind::structure:
    return !trial.tensors[violation.report].exact &&
           (only_near_overflow(trial, violation.report) || has_extremes(op, trial, violation.report));
  default:
    return false;
  }
}

std::uint64_t fingerprint(const Trial& trial) {
  std::uint64_t hash = 0;
  for (const Tensor& input : trial.inputs)
    hash = hash * 0x9E3779B97F4A7C15u +
           content_hash64({reinterpret_cast<const char*>(input.bytes.data()), input.bytes.size()});
  return hash;
}

Case redrawn(const Case& test_case, std::uint64_t k) {
  Case again = test_case;
  for (TensorInput& input : again.inputs) input.seed ^= content_hash64(fmt::format("{}/{}", input.seed, k));
  return again;
}

Result<std::vector<Confirmed>> confirm(Kernel& kernel, const Case& test_case, const Trial& trial,
                                       std::span<const Violation> suspects, JudgeMode mode) {
  return Confirmer(kernel, test_case, trial, mode).run(suspects);
}

} // namespace assay
