#include "harness/cases/overrides.h"
#include "harness/inputs/kinds.h"
#include "harness/inputs/legal.h"
#include "harness/inputs/shapes.h"

#include <algorithm>

namespace assay {

namespace {

// Dims in the space's order, each legal; at least 1 where indices must have something to point at.
Result<Dims> legal_dims(const Dims& wanted, const CaseSpace& space) {
  Dims dims;
  for (const DimRange& range : space.dims) {
    const std::int64_t value = dim_value(wanted, range.name);
    const std::int64_t size = legal_size(range, value < 0 ? range.min : value);
    if (!is_legal_size(range, size)) return user_error(range.place, "dim {} has no legal size", range.name);
    dims.emplace_back(range.name, size);
  }
  for (const InputSpec& spec : space.inputs) {
    if (spec.domain.limit.empty() || dim_value(dims, spec.domain.limit) != 0) continue;
    const auto shape = shape_of(spec, dims);
    if (shape && element_count(*shape) == 0) continue;
    const auto range = std::ranges::find(space.dims, spec.domain.limit, &DimRange::name);
    const std::int64_t size = range == space.dims.end() ? 0 : legal_size(*range, range->multiple_of);
    if (size == 0) return user_error({}, "{} = 0 leaves no legal value for {}", spec.domain.limit, spec.name);
    dims[static_cast<std::size_t>(range - space.dims.begin())].second = size;
  }
  return dims;
}

bool is_legal_distribution(const Distribution& distribution, const Domain& domain) {
  const DistributionRule* rule = find_distribution(distribution.kind);
  return rule != nullptr && fits(rule->kind, domain) && check_distribution(distribution, {}).has_value();
}

// A patch inside `lines` lines, or count 0.
LinePatch inside(LinePatch patch, std::int64_t lines, bool keep_places) {
  if (patch.step < 1 || patch.count < 1 || patch.first < 0 || lines == 0) return {0, 1, 0, {}};
  if (patch.first >= lines) {
    if (!keep_places) return {0, 1, 0, {}};
    patch.first = lines - 1;
  }
  patch.count = std::min(patch.count, (lines - 1 - patch.first) / patch.step + 1);
  return patch;
}

TensorInput legal_input(TensorInput input, const InputSpec& spec, const Shape& shape, const Case& test_case,
                        bool keep_places) {
  const DType type = spec.dtype.value_or(test_case.dtype);
  const DType written = input.dtype.value_or(test_case.dtype);
  for (ElementOverride& element : input.overrides) element.bits = convert_bits(written, type, element.bits);
  input.dtype = spec.dtype;
  if (!is_legal_distribution(input.distribution, spec.domain))
    input.distribution = usual_distribution(spec.domain);

  const std::int64_t lines = line_count(shape);
  for (LinePatch& patch : input.patches) {
    patch = inside(patch, lines, keep_places);
    if (!is_legal_distribution(patch.distribution, spec.domain)) patch.count = 0;
  }
  std::erase_if(input.patches, [](const LinePatch& patch) { return patch.count == 0; });

  const std::int64_t limit = index_limit(spec.domain, test_case.dims);
  std::erase_if(input.overrides, [&](ElementOverride& element) {
    if (element.index.size() != shape.size() || !is_legal_value(spec.domain, type, limit, element.bits))
      return true;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (element.index[d] >= 0 && element.index[d] < shape[d]) continue;
      if (!keep_places || shape[d] == 0) return true;
      element.index[d] = std::clamp<std::int64_t>(element.index[d], 0, shape[d] - 1);
    }
    return false;
  });
  keep_last_of_each_place(input.overrides);

  if (layout_fault(input.layout, shape, spec.layout)) {
    if (!input.layout.strides.empty()) input.layout.strides = padded_strides(shape, spec.layout, 1, 1);
    if (layout_fault({{}, input.layout.offset}, shape, spec.layout)) input.layout.offset = 0;
    if (layout_fault(input.layout, shape, spec.layout)) input.layout.strides.clear();
  }
  return input;
}

} // namespace

Result<void> make_legal(Case& test_case, const CaseSpace& space, bool keep_places) {
  if (std::ranges::find(space.dtypes, test_case.dtype) == space.dtypes.end())
    set_dtype(test_case, space.dtypes.front());
  if (!space.has_backward) test_case.pass = Pass::forward;
  ASSAY_TRY(test_case.dims, legal_dims(test_case.dims, space));

  std::vector<std::pair<std::string, double>> params;
  for (const ParamSpec& spec : space.params) {
    const auto given = std::ranges::find(test_case.params, spec.name, [](const auto& p) { return p.first; });
    const bool legal =
        given != test_case.params.end() && std::ranges::find(spec.values, given->second) != spec.values.end();
    params.emplace_back(spec.name, legal ? given->second : spec.values.front());
  }
  test_case.params = std::move(params);

  std::vector<TensorInput> inputs;
  for (const InputSpec& spec : space.inputs) {
    if (!takes_part(spec, test_case.pass)) continue;
    const auto given = std::ranges::find(test_case.inputs, spec.name, &TensorInput::tensor);
    TensorInput input;
    if (given != test_case.inputs.end())
      input = std::move(*given);
    else
      input = {spec.name, spec.dtype, usual_distribution(spec.domain), inputs.size() + 1, {}, {}, {}};
    ASSAY_TRY(const Shape shape, shape_of(spec, test_case.dims));
    inputs.push_back(legal_input(std::move(input), spec, shape, test_case, keep_places));
  }
  test_case.inputs = std::move(inputs);
  return {};
}

namespace {

std::string text_of(const Dims& dims) {
  std::string text;
  for (const auto& [name, size] : dims) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, size);
  return text;
}

// Why not even `dims`, the smallest there are, keep within the budgets: a size that cannot be worked out, or
// the first one that is too large.
Error what_exceeds(const Dims& dims, const CaseSpace& space) {
  std::int64_t elements = 0;
  for (const InputSpec& spec : space.inputs) {
    const auto shape = shape_of(spec, dims);
    if (!shape) return shape.error();
    elements += element_count(*shape);
  }
  const Scope scope = [&](std::string_view name) -> std::optional<std::int64_t> {
    const std::int64_t value = dim_value(dims, name);
    return value < 0 ? std::nullopt : std::optional(value);
  };
  const auto error = [&](std::string_view what, std::int64_t amount, std::int64_t limit) {
    return Error{
        ErrorKind::user,
        fmt::format("even at the smallest dims ({}) {} are {}, and a campaign's cases have at most {}",
                    text_of(dims), what, amount, limit),
        {}};
  };
  for (const Budget& budget : space.budgets) {
    const auto amount = budget.amount.evaluate(scope);
    if (!amount) { // of a product that nobody wrote, so it is not quoted
      Error failure = amount.error();
      const std::string quoted = fmt::format("expression \"{}\"", budget.amount.text());
      if (failure.message.starts_with(quoted))
        failure.message = fmt::format("at the smallest dims ({}) what gives {}{}", text_of(dims), budget.name,
                                      failure.message.substr(quoted.size()));
      return failure;
    }
    if (*amount > budget.whole_limit) return error(budget.name, *amount, budget.whole_limit);
  }
  return error("the elements of all inputs", elements, space.element_budget);
}

} // namespace

Result<Case> repair(Case test_case, const CaseSpace& space) {
  test_case.manifest = space.manifest;
  test_case.source_hash = space.source_hash;
  test_case.tolerance = space.tolerance;
  test_case.expect = {};
  test_case.lines = {};
  ASSAY_TRY(Dims dims, legal_dims(test_case.dims, space));
  if (!fit_budgets(dims, space)) return std::unexpected(what_exceeds(dims, space));
  test_case.dims = std::move(dims);
  ASSAY_TRY_VOID(make_legal(test_case, space));
  return test_case;
}

} // namespace assay
