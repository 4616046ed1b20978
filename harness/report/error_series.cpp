#include "harness/report/error_series.h"

#include "harness/report/quantities.h"
#include "harness/run/describe.h"
#include "harness/run/verify.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace assay {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int lowest_decade = -20; // smaller errors are counted there

int decade_of(double error) {
  return std::max(lowest_decade, static_cast<int>(std::floor(std::log10(error))));
}

} // namespace

std::vector<double> error_levels(const Trial& trial, std::size_t i) {
  const Evaluated& golden = trial.golden[i];
  const TensorReport& report = trial.tensors[i];
  const std::vector<double>& target = trial.target[i];
  const Gate& gate = report.comparison.gate;
  const double threshold =
      gate.lines.lines_over > 0 && gate.ratio <= 1 ? gate.lines.threshold : gate.threshold;
  std::vector<double> levels(target.size());
  for (std::size_t k = 0; k < target.size(); ++k) {
    const double g = golden.value[k], t = target[k];
    if (g == t || (std::isnan(g) && std::isnan(t)) ||
        (!golden.formula_overflows.empty() && golden.formula_overflows[k]))
      continue;
    if (report.exact && !golden.alternative.empty() && t == golden.alternative[k]) continue;
    if (!std::isfinite(g) || !std::isfinite(t))
      levels[k] = infinity;
    else
      levels[k] = threshold > 0 ? std::abs(t - g) / threshold : level_without_threshold;
  }
  return levels;
}

ErrorMap error_map(const std::string& tensor, std::span<const double> levels, std::vector<std::int64_t> shape,
                   int most_across, int most_down) {
  ErrorMap map;
  map.tensor = tensor;
  map.columns = shape.empty() ? 1 : shape.back();
  map.rows = map.columns == 0 ? 0 : std::ssize(levels) / map.columns;
  map.shape = std::move(shape);
  map.cells_across = static_cast<int>(std::min<std::int64_t>(map.columns, most_across));
  map.cells_down = static_cast<int>(std::min<std::int64_t>(map.rows, most_down));
  for (int y = 0; y < map.cells_down; ++y)
    for (int x = 0; x < map.cells_across; ++x) {
      double level = 0;
      for (auto row = ErrorMap::begin(y, map.cells_down, map.rows);
           row < ErrorMap::begin(y + 1, map.cells_down, map.rows); ++row)
        for (auto column = ErrorMap::begin(x, map.cells_across, map.columns);
             column < ErrorMap::begin(x + 1, map.cells_across, map.columns); ++column)
          level = std::max(level, levels[static_cast<std::size_t>(row * map.columns + column)]);
      map.level.push_back(level);
    }
  return map;
}

ErrorMap error_map(const Trial& trial, std::size_t i, int most_across, int most_down) {
  return error_map(trial.tensors[i].name, error_levels(trial, i), trial.tensors[i].shape, most_across,
                   most_down);
}

ErrorHistogram error_histogram(const Trial& trial, std::size_t i) {
  const std::vector<double>& golden = trial.golden[i].value;
  double scale = 0;
  for (const double g : golden)
    if (std::isfinite(g)) scale = std::max(scale, std::fabs(g));
  if (scale == 0) scale = 1;
  ErrorHistogram histogram;
  std::vector<int> target, reference;
  const auto sort_in = [&](double value, double g, std::vector<int>& decades, std::int64_t& exact,
                           std::int64_t& not_finite) {
    if (value == g || (std::isnan(value) && std::isnan(g)))
      ++exact;
    else if (!std::isfinite(value) || !std::isfinite(g))
      ++not_finite;
    else
      decades.push_back(decade_of(std::fabs(value - g) / scale));
  };
  for (std::size_t k = 0; k < golden.size(); ++k) {
    sort_in(trial.target[i][k], golden[k], target, histogram.target_exact, histogram.target_not_finite);
    sort_in(trial.reference[i].value[k], golden[k], reference, histogram.reference_exact,
            histogram.reference_not_finite);
  }
  if (target.empty() && reference.empty()) return histogram;
  int first = std::numeric_limits<int>::max(), last = lowest_decade;
  for (const auto* decades : {&target, &reference})
    for (const int decade : *decades) {
      first = std::min(first, decade);
      last = std::max(last, decade);
    }
  histogram.first = first;
  histogram.target.resize(static_cast<std::size_t>(last - first) + 1);
  histogram.reference.resize(histogram.target.size());
  for (const int decade : target) ++histogram.target[static_cast<std::size_t>(decade - first)];
  for (const int decade : reference) ++histogram.reference[static_cast<std::size_t>(decade - first)];
  return histogram;
}

ErrorSamplePoint sample_point(const Case& test_case, const Trial& trial, std::size_t i, bool failed) {
  ErrorSamplePoint point;
  point.dims = test_case.dims;
  std::vector<std::string> kinds;
  for (const TensorInput& input : test_case.inputs) {
    std::string kind =
        input.distribution.kind + (input.overrides.empty() && input.patches.empty() ? "" : "*");
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(std::move(kind));
  }
  point.distribution = fmt::format("{}", fmt::join(kinds, ", "));
  const TensorReport& report = trial.tensors[i];
  const Gate& gate = report.comparison.gate;
  const bool wrong_place = !report.comparison.structure.passed() || report.mismatches > 0;
  point.ratio = wrong_place ? infinity : report.ratio();
  point.reference_ratio = gate.threshold > 0 ? gate.reference_error / gate.threshold : 0;
  point.failed = failed;
  return point;
}

std::vector<TriageTensor> triage_tensors(const Judgement& judgement) {
  const Trial& trial = judgement.trial;
  std::vector<TriageTensor> rows;
  for (std::size_t i = 0; i < trial.tensors.size(); ++i) {
    const TensorReport& report = trial.tensors[i];
    const Gate& gate = report.comparison.gate;
    TriageTensor row;
    row.pass = report.pass;
    row.name = report.name;
    row.dtype = std::string(name_of(report.dtype));
    row.shape = report.shape;
    row.exact = report.exact;
    row.reference_error = gate.reference_error;
    row.target_error = told_error(report);
    row.threshold = gate.threshold;
    row.ratio = told_ratio(report);
    row.gate_valid = report.exact || report.gate_valid();
    if (gate.worst_element >= 0 && !trial.golden[i].magnitude.empty()) {
      const auto at = static_cast<std::size_t>(gate.worst_element);
      const double size = trial.golden[i].magnitude[at], g = std::abs(trial.golden[i].value[at]);
      row.condition = size == 0 ? 1 : size / g;
    }
    const bool failed = std::ranges::any_of(
        judgement.findings, [&](const Finding& finding) { return finding.signature.output == report.name; });
    row.verdict = std::string(name_of(case_verdict(report, failed, !failed)));
    if (report.worst >= 0)
      row.worst = fmt::format(
          "{} = {}, golden {}, reference {}", element_text(report.name, report.shape, report.worst),
          value_text(report.target), value_text(report.golden), value_text(report.reference));
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace assay
