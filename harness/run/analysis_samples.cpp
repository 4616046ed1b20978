#include "harness/run/analysis_samples.h"

#include "harness/inputs/fill.h"
#include "harness/inputs/legal.h"
#include "harness/inputs/shapes.h"
#include "harness/numerics/statistics.h"
#include "harness/run/confirm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace assay {

namespace {

constexpr std::int64_t shortest = 8, longest = 512; // reduction lengths that are tried
constexpr int length_count = 5;
constexpr std::int64_t beside = 8; // the other dims, budgets permitting
constexpr std::int64_t growth_budget_share = 16;

std::optional<std::size_t> same_output(const Trial& trial, std::size_t tensor) {
  for (std::size_t i = 0; i < trial.tensors.size(); ++i)
    if (trial.tensors[i].tensor == tensor && !trial.target[i].empty()) return i;
  return std::nullopt;
}

// What the elements that count are measured by.
struct Counted {
  std::vector<std::size_t> index;
  std::vector<double> golden, low, rounded, size; // size: S
};

Counted counted(const Comparands& comparands) {
  Counted result;
  for_each_counted(comparands, [&](std::size_t k, double rounded, double low) {
    const double g = comparable_golden(comparands.dtype, comparands.golden[k]);
    result.index.push_back(k);
    result.golden.push_back(g);
    result.low.push_back(low);
    result.rounded.push_back(rounded);
    result.size.push_back(comparands.magnitude.empty() ? std::fabs(g) : comparands.magnitude[k]);
  });
  return result;
}

// value(position in Counted). Values that are not finite are left out.
template <class Value> ErrorSummary summary_of(const Counted& counted, Value value) {
  ErrorSummary summary;
  std::vector<double> errors;
  double outward = 0, plain = 0;
  for (std::size_t k = 0; k < counted.index.size(); ++k) {
    const double v = value(k);
    if (!std::isfinite(v)) continue;
    const double error = v - counted.golden[k] - counted.low[k];
    errors.push_back(std::fabs(error));
    if (!(counted.size[k] > 0)) continue;
    plain += error / counted.size[k];
    outward += (counted.golden[k] < 0 ? -error : error) / counted.size[k];
  }
  if (errors.empty()) return summary;
  const auto n = static_cast<double>(errors.size());
  summary.signed_mean = plain / n;
  summary.outward_mean = outward / n;
  summary.largest = std::ranges::max(errors);
  for (const double error : errors)
    if (summary.largest > 0) summary.rms += (error / summary.largest) * (error / summary.largest) / n;
  summary.rms = summary.largest * std::sqrt(summary.rms);
  const std::vector<double> at = quantiles(std::move(errors), std::array{0.5, 0.9});
  summary.median = at[0];
  summary.upper = at[1];
  return summary;
}

void set_dim(Case& test_case, const std::string& name, std::int64_t size) {
  for (auto& [known, value] : test_case.dims)
    if (known == name) value = size;
}

} // namespace

ErrorSample sample_errors(const Op& op, const Trial& trial, std::size_t i,
                          std::span<const Instrument> instruments) {
  const Comparands comparands = comparands_of(trial, i);
  const Counted elements = counted(comparands);
  ErrorSample sample;
  sample.count = std::ssize(elements.index);
  const auto of = [&](std::span<const double> values) {
    return summary_of(elements, [&](std::size_t k) { return values[elements.index[k]]; });
  };
  sample.target = of(comparands.target);
  sample.floor = summary_of(elements, [&](std::size_t k) { return elements.rounded[k]; });
  sample.legal.push_back(of(comparands.reference));
  for (const Instrument& instrument : instruments)
    sample.legal.push_back(of(evaluate_tested(op, trial, instrument)[i].value));
  std::vector<double> conditions;
  for (std::size_t k = 0; k < elements.index.size(); ++k) {
    if (elements.size[k] > 0 && elements.golden[k] != 0)
      conditions.push_back(elements.size[k] / std::fabs(elements.golden[k]));
    if (!comparands.golden_bound.empty())
      sample.golden_bound = std::max(sample.golden_bound, comparands.golden_bound[elements.index[k]]);
  }
  if (!conditions.empty()) sample.condition = quantiles(std::move(conditions), std::array{0.5}).front();
  return sample;
}

double spread_of_orders(const Op& op, const Trial& trial, std::size_t i,
                        std::span<const Instrument> instruments) {
  std::vector<double> low = trial.reference[i].value, high = low;
  for (const Instrument& instrument : instruments) {
    if (instrument.number != Instrument::Number::plain || instrument.functions != Instrument::Functions::best)
      continue;
    const std::vector<double> value = evaluate_tested(op, trial, instrument)[i].value;
    for (std::size_t k = 0; k < value.size(); ++k) {
      low[k] = std::fmin(low[k], value[k]);
      high[k] = std::fmax(high[k], value[k]);
    }
  }
  double spread = 0;
  for (std::size_t k = 0; k < low.size(); ++k)
    if (std::isfinite(high[k]) && std::isfinite(low[k])) spread = std::max(spread, high[k] - low[k]);
  return spread;
}

std::optional<std::size_t> reduction_dim(const Kernel& kernel, const Case& test_case, const Trial& trial,
                                         std::size_t i) {
  const OpInfo& info = kernel.op().info();
  if (!info.reduces) return std::nullopt;
  // In units of S and of the arithmetic's roundoff, so that the output's own rounding does not drown it.
  const auto bound_at = [&](const Dims& dims) -> double {
    Problem problem{test_case.pass, DType::f32, {}, trial.plan.params, {}};
    for (const auto& [name, size] : dims) problem.dims.push_back(size);
    std::vector<Tensor> inputs;
    for (const InputSpec& spec : kernel.space().inputs) {
      if (!takes_part(spec, test_case.pass)) continue;
      TensorInput input;
      input.tensor = spec.name;
      input.distribution = usual_distribution(spec.domain);
      input.seed = inputs.size() + 1;
      const auto shape = shape_of(spec, dims);
      if (!shape) return 0;
      inputs.push_back(fill(input, spec.dtype.value_or(DType::f32), *shape, spec.domain, dims));
    }
    for (const Tensor& input : inputs) problem.tensors.push_back(&input);
    Instrument golden, rigorous;
    golden.number = Instrument::Number::golden;
    rigorous.number = Instrument::Number::rigorous;
    const auto find = [&](const std::vector<Evaluated>& all) {
      return *std::ranges::find(all, trial.tensors[i].name, &Evaluated::tensor);
    };
    const Evaluated g = find(kernel.op().evaluate(problem, golden));
    const Evaluated r = find(kernel.op().evaluate(problem, rigorous));
    std::vector<double> relative;
    for (std::size_t k = 0; k < r.bound.size(); ++k)
      if (g.magnitude[k] > 0 && std::isfinite(r.bound[k])) relative.push_back(r.bound[k] / g.magnitude[k]);
    return relative.empty() ? 0 : quantiles(std::move(relative), std::array{0.5}).front();
  };
  Dims base;
  for (const DimRange& range : kernel.space().dims) base.emplace_back(range.name, legal_size(range, 4));
  const double from = bound_at(base);
  std::optional<std::size_t> found;
  double most = 1.2; // times
  for (std::size_t d = 0; d < base.size(); ++d) {
    Dims grown = base;
    grown[d].second = legal_size(kernel.space().dims[d], 32);
    if (grown[d].second <= base[d].second) continue;
    if (const double times = from > 0 ? bound_at(grown) / from : 0; times > most) {
      most = times;
      found = d;
    }
  }
  return found;
}

Lengths growth_lengths(const CaseSpace& space, std::size_t dim) {
  const DimRange& range = space.dims[dim];
  Dims dims;
  for (const DimRange& other : space.dims) dims.emplace_back(other.name, legal_size(other, beside));
  std::int64_t top = std::min(range.max, longest);
  const auto too_much = [&] {
    dims[dim].second = legal_size(range, top);
    return !within_budgets(dims, space, growth_budget_share);
  };
  while (too_much()) {
    std::size_t largest = dims.size();
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (d != dim && legal_size(space.dims[d], dims[d].second / 2) < dims[d].second &&
          (largest == dims.size() || dims[d].second > dims[largest].second))
        largest = d;
    if (largest != dims.size())
      dims[largest].second = legal_size(space.dims[largest], dims[largest].second / 2);
    else if (top > shortest)
      top /= 2;
    else
      return {};
  }
  Lengths lengths;
  const std::int64_t bottom = legal_size(range, std::max(range.min, std::min(shortest, top)));
  const double ratio =
      std::pow(static_cast<double>(top) / static_cast<double>(std::max<std::int64_t>(bottom, 1)),
               1.0 / (length_count - 1));
  std::set<std::int64_t> sizes;
  for (int k = 0; k < length_count; ++k)
    sizes.insert(legal_size(range, std::llround(static_cast<double>(bottom) * std::pow(ratio, k))));
  if (sizes.size() < length_count) return {};
  lengths.sizes.assign(sizes.begin(), sizes.end());
  lengths.others = std::move(dims);
  return lengths;
}

Result<std::vector<ErrorSample>> samples_at_shape(Kernel& kernel, const Case& test_case, const Trial& trial,
                                                  std::size_t i, std::span<const Instrument> instruments) {
  std::vector<ErrorSample> samples;
  std::set<std::uint64_t> seen{fingerprint(trial)};
  for (int k = 1; k <= shape_redraws; ++k) {
    ASSAY_TRY(const Trial again, run_trial(kernel, redrawn(test_case, static_cast<std::uint64_t>(k))));
    if (!seen.insert(fingerprint(again)).second) {
      if (k > 1 && seen.size() == 1) break; // the data has no seed
      continue;
    }
    if (const auto at = same_output(again, trial.tensors[i].tensor))
      samples.push_back(sample_errors(kernel.op(), again, *at, instruments));
  }
  return samples;
}

Result<std::vector<ErrorSample>> samples_by_length(Kernel& kernel, const Case& test_case, const Trial& trial,
                                                   std::size_t i, std::size_t dim, const Lengths& lengths,
                                                   std::span<const Instrument> instruments) {
  const DimRange& range = kernel.space().dims[dim];
  std::vector<ErrorSample> samples;
  std::set<std::uint64_t> seen;
  for (const std::int64_t length : lengths.sizes)
    for (int seed = 0; seed < growth_seeds; ++seed) {
      Case at_length = redrawn(test_case, 100 + static_cast<std::uint64_t>(seed));
      at_length.dims = lengths.others;
      const auto run = [&](std::int64_t size) -> Result<Trial> {
        set_dim(at_length, range.name, size);
        for (TensorInput& input : at_length.inputs) input.layout = {};
        ASSAY_TRY_VOID(make_legal(at_length, kernel.space()));
        return run_trial(kernel, at_length);
      };
      ASSAY_TRY(Trial again, run(length));
      std::int64_t size = length;
      if (!seen.insert(fingerprint(again)).second) {
        size = legal_size(range, length + seed * range.multiple_of);
        ASSAY_TRY(again, run(size));
        if (!seen.insert(fingerprint(again)).second) continue;
      }
      const auto at = same_output(again, trial.tensors[i].tensor);
      if (!at) continue;
      samples.push_back(sample_errors(kernel.op(), again, *at, instruments));
      samples.back().length = static_cast<double>(size);
    }
  return samples;
}

} // namespace assay
