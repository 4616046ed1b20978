#include "harness/run/analysis.h"

#include "harness/inputs/shapes.h"
#include "harness/numerics/confirmation.h"
#include "harness/run/describe.h"
#include "harness/run/envelope.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

namespace assay {

namespace {

constexpr double false_alarm = confirmation_false_alarm; // a test
constexpr double min_sigmas = 6;
constexpr double widest_slope = 0.5; // half width of the 99 % interval; a wider one tells nothing of growth

struct Statistic {
  const char* name;
  double ErrorSummary::* value;
};
constexpr Statistic statistics[] = {{"RMS error", &ErrorSummary::rms},
                                    {"median error", &ErrorSummary::median},
                                    {"0.9 quantile of the error", &ErrorSummary::upper},
                                    {"largest error", &ErrorSummary::largest}};
constexpr Statistic means[] = {{"mean signed error", &ErrorSummary::signed_mean},
                               {"mean error away from zero", &ErrorSummary::outward_mean}};

// More samples above fudge times the largest legal one than noise explains.
std::optional<std::string> scale_of_its_own(std::span<const ErrorSample> samples,
                                            const Tolerance& tolerance) {
  const int n = static_cast<int>(samples.size());
  if (n < confirmation_min_redraws) return std::nullopt;
  const auto evaluations = static_cast<double>(samples.front().legal.size());
  const int needed = exceedances_needed(n, 1 / (evaluations + 1), false_alarm);
  for (const Statistic& statistic : statistics) {
    int above = 0;
    for (const ErrorSample& sample : samples) {
      double legal = 0;
      for (const ErrorSummary& one : sample.legal) legal = std::max(legal, one.*statistic.value);
      const double allowed = tolerance.fudge * legal +
                             std::max(tolerance.atol, sample.floor.*statistic.value) + sample.golden_bound;
      above += sample.target.*statistic.value > allowed;
    }
    if (above >= needed)
      return fmt::format("its {} is above {} times that of every legal evaluation in {} of {} cases",
                         statistic.name, tolerance.fudge, above, n);
  }
  return std::nullopt;
}

double mean_over(std::span<const ErrorSample> samples, auto value) {
  double sum = 0;
  for (const ErrorSample& sample : samples) sum += value(sample);
  return sum / static_cast<double>(samples.size());
}

std::optional<std::string> bias_of_its_own(std::span<const ErrorSample> samples, const Tolerance& tolerance) {
  if (std::ssize(samples) < confirmation_min_redraws) return std::nullopt;
  const auto n = static_cast<double>(samples.size());
  const double sigmas = std::max(min_sigmas, student_t_quantile(1 - false_alarm / 2, n - 1));
  for (const Statistic& statistic : means) {
    const double mean = mean_over(samples, [&](const ErrorSample& s) { return s.target.*statistic.value; });
    const double variance = mean_over(samples, [&](const ErrorSample& s) {
      const double d = s.target.*statistic.value - mean;
      return d * d;
    });
    const double error = std::sqrt(variance / (n - 1));
    double legal = 0;
    for (std::size_t k = 0; k < samples.front().legal.size(); ++k)
      legal = std::max(legal, std::fabs(mean_over(samples, [&](const ErrorSample& s) {
                         return s.legal[k].*statistic.value;
                       })));
    const double floor =
        std::fabs(mean_over(samples, [&](const ErrorSample& s) { return s.floor.*statistic.value; }));
    if (std::fabs(mean) > tolerance.fudge * legal + floor + sigmas * error)
      return fmt::format(
          "its {} is {:.3g} of sum|term| (standard error {:.2g}), the largest legal one {:.3g}",
          statistic.name, mean, error, legal);
  }
  return std::nullopt;
}

Growth growth_of(std::span<const ErrorSample> samples, auto value) {
  std::vector<GrowthPoint> points;
  for (const ErrorSample& sample : samples) points.push_back({sample.length, value(sample)});
  return fit_growth(points);
}

std::vector<LengthRow> rows_of(std::span<const ErrorSample> samples) {
  std::map<double, std::vector<const ErrorSample*>> by_length;
  for (const ErrorSample& sample : samples) by_length[sample.length].push_back(&sample);
  std::vector<LengthRow> rows;
  for (const auto& [length, group] : by_length) {
    LengthRow row;
    row.length = length;
    const auto n = static_cast<double>(group.size());
    const auto over_group = [&](auto of) { // {root mean square of rms, mean of the signed means}
      double square = 0, mean = 0;
      for (const ErrorSample* sample : group) {
        const ErrorSummary& summary = of(*sample);
        square += summary.rms * summary.rms / n;
        mean += summary.signed_mean / n;
      }
      return std::pair(std::sqrt(square), mean);
    };
    std::tie(row.target_rms, row.target_mean) =
        over_group([](const ErrorSample& s) -> const ErrorSummary& { return s.target; });
    for (std::size_t k = 0; k < group.front()->legal.size(); ++k) {
      const auto [rms, mean] =
          over_group([k](const ErrorSample& s) -> const ErrorSummary& { return s.legal[k]; });
      row.legal_rms = std::max(row.legal_rms, rms);
      if (std::fabs(mean) > std::fabs(row.legal_mean)) row.legal_mean = mean;
    }
    row.condition = 0;
    for (const ErrorSample* sample : group) row.condition = std::max(row.condition, sample->condition);
    rows.push_back(row);
  }
  return rows;
}

void fit(Analysis& analysis, const Evidence& evidence) {
  const auto& samples = evidence.by_length;
  analysis.lengths = rows_of(samples);
  analysis.target = growth_of(samples, [](const ErrorSample& s) { return s.target.rms; });
  for (std::size_t k = 0; k < samples.front().legal.size(); ++k) {
    const Growth growth = growth_of(samples, [k](const ErrorSample& s) { return s.legal[k].rms; });
    if (growth.valid && (!analysis.steepest.valid || growth.slope > analysis.steepest.slope)) {
      analysis.steepest = growth;
      analysis.steepest_name = evidence.names[k];
    }
  }
  std::vector<GrowthPoint> bias;
  for (const LengthRow& row : analysis.lengths) bias.push_back({row.length, std::fabs(row.target_mean)});
  analysis.target_bias = fit_growth(bias);
}

// At every length the target's RMS error is at most fudge times the largest legal one so far, or the rounding
// of the output: its growth is bounded by theirs though no slope can be told. So far: at a length at which
// legal evaluations happen to be nearly exact, as sums of ramps may be, another right one need not be.
bool within_legal(const Evidence& evidence, const Tolerance& tolerance) {
  std::map<double, double> floor;
  for (const ErrorSample& sample : evidence.by_length)
    floor[sample.length] = std::max(floor[sample.length], sample.floor.rms + sample.golden_bound);
  const std::vector<LengthRow> rows = rows_of(evidence.by_length);
  double legal = 0;
  return !rows.empty() && std::ranges::all_of(rows, [&](const LengthRow& row) {
    legal = std::max(legal, row.legal_rms);
    return row.target_rms <= tolerance.fudge * legal + std::max(tolerance.atol, floor[row.length]);
  });
}

std::string slope_text(const Growth& growth) {
  return fmt::format("{:.2f} +- {:.2f}", growth.slope, growth.half_width);
}

// The legal evaluation against which the target's slope stands or falls: the steepest, and it must not be
// that a less steep one with a narrower interval accuses.
std::optional<std::string> growth_of_its_own(const Analysis& analysis) {
  if (!grows_faster(analysis.target, analysis.steepest)) return std::nullopt;
  return fmt::format("its error grows with {} as T^{}, the steepest legal one ({}) as T^{}", analysis.dim,
                     slope_text(analysis.target), analysis.steepest_name, slope_text(analysis.steepest));
}

} // namespace

std::string name_of(const Instrument& instrument, const OpInfo& op, Pass pass) {
  std::string text;
  if (instrument.number == Instrument::Number::noise)
    text = fmt::format("rounding at random {}", instrument.seed);
  else if (instrument.functions == Instrument::Functions::all_up)
    text = "functions too large";
  else if (instrument.functions == Instrument::Functions::all_down)
    text = "functions too small";
  else if (instrument.functions == Instrument::Functions::random_signs)
    text = fmt::format("functions off at random {}", instrument.seed);
  else if (instrument.order == Order::sequential)
    text = "sequential";
  else if (instrument.order == Order::pairwise)
    text = "pairwise";
  else
    text = fmt::format("{} {}", instrument.order == Order::blocked ? "blocked" : "strided", instrument.width);
  if (instrument.contract) text += ", fused";
  for (const auto& [way, name] : {std::pair(products_first, "first products first"),
                                  {products_last, "last products first"},
                                  {products_across, "products across"},
                                  {reciprocals, "reciprocals"}})
    if ((instrument.narrowed & way) != 0) text += fmt::format(", {}", name);
  const auto& algorithms = pass == Pass::forward ? op.algorithms : op.backward_algorithms;
  if (algorithms.size() > 1) text += ", " + algorithms[static_cast<std::size_t>(instrument.algorithm)];
  return text;
}

Analysis conclude(const Evidence& evidence, const Tolerance& tolerance) {
  Analysis analysis;
  analysis.dim = evidence.dim;
  analysis.legal = static_cast<int>(evidence.names.size());
  analysis.cases = static_cast<int>(evidence.at_shape.size() + evidence.by_length.size());
  if (!evidence.by_length.empty()) fit(analysis, evidence);

  const auto fails = [&](std::string why) {
    analysis.verdict = Verdict::fail;
    analysis.why = std::move(why);
    return analysis;
  };
  if (evidence.beyond_bound)
    return fails(fmt::format("above the rigorous bound {}", value_text(evidence.rigorous_bound)));
  for (const auto* samples : {&evidence.at_shape, &evidence.by_length}) {
    if (auto why = scale_of_its_own(*samples, tolerance)) return fails(*std::move(why));
    if (auto why = bias_of_its_own(*samples, tolerance)) return fails(*std::move(why));
  }
  if (auto why = growth_of_its_own(analysis)) return fails(*std::move(why));

  const auto cannot_tell = [&](std::string why) {
    analysis.verdict = Verdict::inconclusive;
    analysis.why = std::move(why);
    return analysis;
  };
  const auto enough = static_cast<std::ptrdiff_t>(confirmation_min_redraws);
  if (!evidence.explained && std::ssize(evidence.at_shape) < enough)
    return cannot_tell(
        "above every legal evaluation, and its data has too few seeds to tell luck from fault");
  if (std::ssize(evidence.at_shape) < enough && std::ssize(evidence.by_length) < enough)
    return cannot_tell("fewer than 8 inputs that differ: nothing to compare distributions on");
  const bool fitted = analysis.target.valid && analysis.steepest.valid &&
                      std::max(analysis.target.half_width, analysis.steepest.half_width) <= widest_slope;
  const bool bounded = within_legal(evidence, tolerance);
  if (evidence.growth_needed && !fitted && !bounded)
    return cannot_tell(fmt::format("the growth of the error could not be fitted{}{}",
                                   evidence.no_growth.empty() ? "" : ": ", evidence.no_growth));
  analysis.verdict = Verdict::pass_with_limitations;
  const std::string growth =
      fitted    ? fmt::format("grows as T^{}, the steepest legal one as T^{}", slope_text(analysis.target),
                              slope_text(analysis.steepest))
      : bounded ? fmt::format("no slope can be told, but at every length it is within {} times theirs",
                              tolerance.fudge)
      : evidence.reduces ? "growth not fitted: " + evidence.no_growth
                         : "no reduction";
  analysis.why =
      fmt::format("follows {} legal evaluations over {} cases; {}", analysis.legal, analysis.cases, growth);
  return analysis;
}

Result<Analysis> analyse(Kernel& kernel, const Case& test_case, const Trial& trial, std::size_t i) {
  const Op& op = kernel.op();
  const std::vector<Instrument> instruments =
      envelope_instruments(op.info(), kernel.manifest(), trial.plan, kernel.approximates());
  Evidence evidence;
  evidence.names.push_back(name_of(Instrument{}, op.info(), test_case.pass));
  for (const Instrument& instrument : instruments)
    evidence.names.push_back(name_of(instrument, op.info(), test_case.pass));

  Envelope envelope(op, trial, instruments);
  while (envelope.widen()) {
  }
  Comparands comparands = comparands_of(trial, i);
  const GateRule rule = gate_rule(trial, i, test_case.tolerance, op.info());
  const Gate& plain = trial.tensors[i].comparison.gate;
  comparands.envelope_error = envelope.error(i);
  const Gate gate = compare(comparands, rule).gate;
  evidence.explained = gate.passed();
  const std::vector<double> bounds = rigorous_bounds(op, trial, kernel.approximates())[i];
  const BeyondBound beyond = beyond_rigorous_bound(comparands_of(trial, i), bounds, gate.absolute_floor);
  evidence.beyond_bound = !evidence.explained && beyond.element >= 0;
  evidence.rigorous_bound = beyond.rigorous_bound;

  ASSAY_TRY(evidence.at_shape, samples_at_shape(kernel, test_case, trial, i, instruments));
  if (const auto dim = reduction_dim(kernel, test_case, trial, i)) {
    const CaseSpace& space = kernel.space();
    const DimRange& range = space.dims[*dim];
    evidence.reduces = true;
    evidence.dim = range.name;
    const std::int64_t steps = (range.max - legal_size(range, range.min)) / range.multiple_of;
    evidence.growth_needed = steps >= 4;
    const Lengths lengths = growth_lengths(space, *dim);
    if (lengths.sizes.empty())
      evidence.no_growth = fmt::format("{} cannot take five lengths", range.name);
    else {
      ASSAY_TRY(evidence.by_length,
                samples_by_length(kernel, test_case, trial, i, *dim, lengths, instruments));
    }
  }
  Analysis analysis = conclude(evidence, test_case.tolerance);
  analysis.spread = spread_of_orders(op, trial, i, instruments);
  const std::int64_t worst = plain.worst_element;
  if (worst >= 0) {
    const double g = std::fabs(trial.golden[i].value[static_cast<std::size_t>(worst)]);
    const auto& magnitude = trial.golden[i].magnitude;
    const double size = magnitude.empty() ? g : magnitude[static_cast<std::size_t>(worst)];
    analysis.condition = size == 0 ? 1 : size / g;
  }
  return analysis;
}

} // namespace assay
