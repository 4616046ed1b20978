#include "harness/ops/evaluation.h"

#include "harness/base/check.h"
#include "harness/base/large_pages.h"
#include "harness/base/parallel.h"
#include "harness/numerics/bulk.h"
#include "harness/ops/number_context.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>

namespace assay {
namespace {

// What no formula stores: a NaN of its own, by which an element that was left out is told.
constexpr std::uint64_t unstored = 0x7ff8'a55a'a55a'a55a;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

} // namespace

OwnViews::OwnViews(std::span<const TensorView> tensors)
    : views_(tensors.begin(), tensors.end()), starts_(tensors.size()) {
  for (std::size_t k = 0; k < views_.size(); ++k)
    if (views_[k].line_starts != nullptr) views_[k].line_starts = &starts_[k];
}

void OwnViews::add_starts(std::span<const TensorView> tensors) const {
  for (std::size_t k = 0; k < tensors.size(); ++k)
    if (auto* starts = tensors[k].line_starts)
      starts->insert(starts->end(), starts_[k].begin(), starts_[k].end());
}

std::vector<std::int64_t> axes_of(const char* shape, std::span<const Dim> dims,
                                  std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> axes;
  for (const std::string_view axis : split(shape, ',')) {
    std::int64_t size = 1;
    for (const std::string_view factor : split(axis, '*')) {
      std::int64_t number = 0;
      const auto dim = std::ranges::find(dims, factor, &Dim::name);
      if (dim != dims.end()) {
        number = sizes[static_cast<std::size_t>(dim->index)];
      } else {
        const auto [end, failure] = std::from_chars(factor.data(), factor.data() + factor.size(), number);
        ASSAY_CHECK(failure == std::errc() && end == factor.data() + factor.size(), "shape '{}': no dim '{}'",
                    shape, factor);
      }
      size *= number;
    }
    axes.push_back(size);
  }
  return axes;
}

OpInfo make_info(const Declarations& declarations) {
  OpInfo info;
  info.name = declarations.name;
  for (const Dim& dim : declarations.dims) {
    ASSAY_CHECK(dim.index == static_cast<int>(info.dims.size()), "{}: dim {} out of place", info.name,
                dim.name);
    info.dims.push_back({.name = dim.name, .min = dim.min, .multiple_of = dim.multiple_of});
  }
  for (const TensorSpec& spec : declarations.tensors) {
    ASSAY_CHECK(spec.index == static_cast<int>(info.tensors.size()), "{}: tensor {} out of place", info.name,
                spec.name);
    TensorInfo tensor;
    tensor.name = spec.name;
    tensor.role = spec.role;
    if (spec.has_type) tensor.dtype = spec.type;
    for (const std::string_view axis : split(spec.shape, ',')) tensor.shape.emplace_back(axis);
    tensor.optional = spec.is_optional;
    tensor.starts_at_zero = spec.is_cleared;
    tensor.domain = {.kind = spec.domain, .limit = spec.limit, .specials = spec.has_specials};
    tensor.of = spec.of;
    info.tensors.push_back(std::move(tensor));
  }
  for (const Param& param : declarations.params) {
    ParamInfo entry{.name = param.name, .dtype = param.dtype, .initial = param.initial, .choices = {}};
    if (param.flag) entry.choices = {0, 1};
    info.params.push_back(std::move(entry));
  }
  info.elementwise = declarations.elementwise;
  info.max_ulp_narrow = declarations.max_ulp_narrow;
  info.max_ulp_f32 = declarations.max_ulp_f32;
  info.exact = declarations.exact;
  info.reduces = declarations.reduces;
  info.has_backward = declarations.has_backward;
  info.algorithms.assign(declarations.algorithms.begin(), declarations.algorithms.end());
  info.backward_algorithms.assign(declarations.backward_algorithms.begin(),
                                  declarations.backward_algorithms.end());
  return info;
}

Evaluation::Evaluation(const Declarations& declarations, const Problem& problem, const Instrument& instrument)
    : problem_(problem), instrument_(instrument) {
  const bool backward = problem.pass == Pass::backward;
  ASSAY_CHECK(problem.dims.size() == declarations.dims.size(), "{}: {} dims", declarations.name,
              problem.dims.size());
  ASSAY_CHECK(problem.params.size() == declarations.params.size(), "{}: {} params", declarations.name,
              problem.params.size());
  for (const Dim& dim : declarations.dims) {
    const std::int64_t size = problem.dims[static_cast<std::size_t>(dim.index)];
    ASSAY_CHECK(size >= dim.min && size % dim.multiple_of == 0, "{}: {} = {}", declarations.name, dim.name,
                size);
  }
  const auto legal = (backward ? declarations.backward_algorithms : declarations.algorithms).size();
  ASSAY_CHECK(instrument.algorithm >= 0 && static_cast<std::size_t>(instrument.algorithm) < legal,
              "{}: algorithm {} of {}", declarations.name, instrument.algorithm, legal);
  // Random draws are taken one after the other, in the order of the lines.
  const bool draws = instrument.number == Instrument::Number::noise ||
                     instrument.functions == Instrument::Functions::random_signs;
  operations_ = draws ? 0 : 1;
  for (const std::int64_t size : problem.dims) operations_ *= static_cast<double>(size);

  const std::size_t count = declarations.tensors.size();
  views_.resize(count);
  widened_.resize(count);
  results_.reserve(count); // views point into it
  std::size_t given = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const TensorSpec& spec = declarations.tensors[k];
    const bool reads = spec.role == Role::input || (backward && spec.role == Role::upstream);
    const bool writes = spec.role == (backward ? Role::gradient : Role::output);
    if (!reads && !writes) continue;
    TensorView& view = views_[k];
    view.name = spec.name;
    const std::vector<std::int64_t> axes = axes_of(spec.shape, declarations.dims, problem.dims);
    ASSAY_CHECK(axes.size() <= view.shape.size(), "{}: rank {}", spec.name, axes.size());
    view.rank = static_cast<int>(axes.size());
    std::ranges::copy(axes, view.shape.begin());
    view.count = 1;
    for (const std::int64_t size : axes) view.count *= size;
    const DType dtype = spec.has_type ? spec.type : problem.dtype;
    const auto elements = static_cast<std::size_t>(view.count);
    if (reads) {
      ASSAY_CHECK(given < problem.tensors.size(), "{}: tensor {} is not given", declarations.name, spec.name);
      const Tensor& tensor = *problem.tensors[given++];
      ASSAY_CHECK(tensor.dtype == dtype && tensor.shape == axes, "{}: shape or type of {}", declarations.name,
                  spec.name);
      reserve_large(widened_[k], elements);
      widened_[k].resize(elements);
      widen(dtype, tensor.bytes, widened_[k]);
      view.values = widened_[k].data();
      continue;
    }
    Evaluated& result = results_.emplace_back();
    result.tensor = spec.name;
    result.dtype = dtype;
    result.shape = axes;
    reserve_large(result.value, elements);
    result.value.assign(elements, std::bit_cast<double>(unstored));
    view.slot.value = result.value.data();
    const bool golden = instrument.number == Instrument::Number::golden;
    if (golden || instrument.number == Instrument::Number::rigorous) {
      reserve_large(result.bound, elements);
      result.bound.resize(elements);
      view.slot.bound = result.bound.data();
    }
    if (golden) {
      reserve_large(result.magnitude, elements);
      result.magnitude.resize(elements);
      result.formula_overflows.resize(elements);
      view.slot.magnitude = result.magnitude.data();
      view.slot.formula_overflows = result.formula_overflows.data();
      if (!is_float(dtype)) {
        result.alternative.resize(elements);
        view.slot.alternative = result.alternative.data();
      }
      if (problem.dtype == DType::f64) {
        result.value_low.resize(elements);
        view.slot.value_low = result.value_low.data();
      }
    }
    view.line_starts = &result.line_starts;
  }
  ASSAY_CHECK(given == problem.tensors.size(), "{}: {} tensors given, {} wanted", declarations.name,
              problem.tensors.size(), given);

  using Functions = Instrument::Functions;
  using Sign = NumberContext::Sign;
  number_context = {.random = instrument.seed,
                    .sign = instrument.functions == Functions::all_up     ? Sign::up
                            : instrument.functions == Functions::all_down ? Sign::down
                                                                          : Sign::random,
                    .approximate = instrument.approximate,
                    .exact_points = true,
                    .moves_exact = instrument.moves_exact,
                    .narrow = instrument.narrowed == 0 ? nullptr : &format_of(instrument.narrow),
                    .narrowed = instrument.narrowed};
}

std::vector<Evaluated> Evaluation::finish() && {
  using Number = Instrument::Number;
  const bool rounds = instrument_.number == Number::plain || instrument_.number == Number::noise;
  const DType arithmetic = problem_.dtype == DType::f64 ? DType::f64 : DType::f32;
  for (Evaluated& result : results_) {
    const std::size_t left_out = first_where(result.value.size(), least_elements, [&](std::size_t i) {
      return std::bit_cast<std::uint64_t>(result.value[i]) == unstored;
    });
    ASSAY_CHECK(left_out == result.value.size(), "the formula stores nothing into element {} of {}'s {}",
                left_out, result.tensor, result.value.size());
    if (rounds && result.dtype != arithmetic) round_values(result.dtype, result.value, {}, result.value);
    std::ranges::sort(result.line_starts);
    const auto repeated = std::ranges::unique(result.line_starts);
    result.line_starts.erase(repeated.begin(), repeated.end());
    result.line_starts.push_back(static_cast<std::int64_t>(result.value.size()));
  }
  return std::move(results_);
}

} // namespace assay
