#include "harness/inputs/kinds.h"
#include "harness/inputs/legal.h"
#include "harness/inputs/shapes.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace assay {

namespace {

template <class Specs> std::string names_of(const Specs& specs) {
  std::vector<std::string_view> names;
  for (const auto& spec : specs) names.push_back(spec.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

template <class Specs> auto find_spec(const Specs& specs, std::string_view name) {
  return std::ranges::find(specs, name, [](const auto& spec) -> std::string_view { return spec.name; });
}

class Checker {
 public:
  Checker(const Case& test_case, const CaseSpace& space) : case_(test_case), space_(space) {}

  Result<void> run() const {
    if (std::ranges::find(space_.dtypes, case_.dtype) == space_.dtypes.end())
      return user_error(at("dtype"), "the kernel is not declared for {}", name_of(case_.dtype));
    if (case_.pass == Pass::backward && !space_.has_backward)
      return user_error(at("pass"), "the kernel has no backward launch");
    ASSAY_TRY_VOID(check_dims());
    ASSAY_TRY_VOID(check_params());
    return check_inputs();
  }

 private:
  Place at(const std::string& what) const { return case_.lines.place(what); }

  Result<void> check_dims() const {
    for (const auto& [name, size] : case_.dims) {
      const auto range = find_spec(space_.dims, name);
      if (range == space_.dims.end())
        return user_error(at("dims." + name), "unknown dim \"{}\"; there are {}", name,
                          names_of(space_.dims));
      if (is_legal_size(*range, size)) continue;
      if (range->multiple_of > 1)
        return user_error(at("dims." + name), "dim {} = {} must be a multiple of {} from {} to {}", name,
                          size, range->multiple_of, range->min, range->max);
      return user_error(at("dims." + name), "dim {} = {} must be from {} to {}", name, size, range->min,
                        range->max);
    }
    for (const DimRange& range : space_.dims)
      if (dim_value(case_.dims, range.name) < 0)
        return user_error(at("[dims]"), "dim {} is missing", range.name);
    return {};
  }

  Result<void> check_params() const {
    for (const auto& [name, value] : case_.params) {
      const auto spec = find_spec(space_.params, name);
      if (spec == space_.params.end())
        return user_error(at("params." + name), "unknown param \"{}\"{}{}", name,
                          space_.params.empty() ? "" : "; there are ", names_of(space_.params));
      if (std::ranges::find(spec->values, value) == spec->values.end())
        return user_error(at("params." + name),
                          "param {} = {} is not what the kernel's manifest declares ({})", name, value,
                          fmt::join(spec->values, ", "));
    }
    for (const ParamSpec& spec : space_.params)
      if (std::ranges::find(case_.params, spec.name, [](const auto& p) { return p.first; }) ==
          case_.params.end())
        return user_error(at("[params]"), "param {} is missing", spec.name);
    return {};
  }

  Result<void> check_inputs() const {
    for (const TensorInput& input : case_.inputs) {
      const auto spec = find_spec(space_.inputs, input.tensor);
      if (spec == space_.inputs.end())
        return user_error(at("inputs." + input.tensor), "unknown input \"{}\"; there are {}", input.tensor,
                          names_of(space_.inputs));
      if (!takes_part(*spec, case_.pass))
        return user_error(at("inputs." + input.tensor), "{} is the upstream gradient of a backward case",
                          input.tensor);
      ASSAY_TRY_VOID(check_input(input, *spec));
    }
    for (const InputSpec& spec : space_.inputs)
      if (takes_part(spec, case_.pass) &&
          std::ranges::find(case_.inputs, spec.name, &TensorInput::tensor) == case_.inputs.end())
        return user_error(at("[inputs]"), "input {} is missing", spec.name);
    return {};
  }

  Result<void> check_input(const TensorInput& input, const InputSpec& spec) const {
    const std::string key = "inputs." + input.tensor;
    const DType type = input.dtype.value_or(case_.dtype);
    const DType wanted = spec.dtype.value_or(case_.dtype);
    if (type != wanted)
      return user_error(at(key), "{} is of {}, not {}: write \"{}{}{} = ...\"", input.tensor, name_of(wanted),
                        name_of(type), input.tensor, spec.dtype ? ": " : "",
                        spec.dtype ? name_of(wanted) : "");
    auto shape = shape_of(spec, case_.dims);
    if (!shape) return user_error(at("[dims]"), "{}", shape.error().message);
    const std::int64_t limit = index_limit(spec.domain, case_.dims);
    if (limit == 0 && !spec.domain.limit.empty() && element_count(*shape) > 0)
      return user_error(at("dims." + spec.domain.limit), "{} = 0 leaves no legal value for {}",
                        spec.domain.limit, input.tensor);

    ASSAY_TRY_VOID(check_distribution_of(input, input.distribution, spec.domain, at(key)));
    const std::int64_t lines = line_count(*shape);
    for (std::size_t i = 0; i < input.patches.size(); ++i) {
      const LinePatch& patch = input.patches[i];
      const Place place = at(fmt::format("{}.patches.{}", key, i));
      if (patch.first < 0 || patch.step < 1 || patch.count < 1 || patch.first >= lines ||
          patch.count - 1 > (lines - 1 - patch.first) / patch.step)
        return user_error(place, "{} has {} lines; a patch may name 0..{}", input.tensor, lines, lines - 1);
      ASSAY_TRY_VOID(check_distribution_of(input, patch.distribution, spec.domain, place));
    }
    for (std::size_t i = 0; i < input.overrides.size(); ++i) {
      const ElementOverride& element = input.overrides[i];
      const Place place = at(fmt::format("{}.overrides.{}", key, i));
      if (element.index.size() != shape->size())
        return user_error(place, "{} has {} dimensions, not {}", input.tensor, shape->size(),
                          element.index.size());
      for (std::size_t d = 0; d < shape->size(); ++d)
        if (element.index[d] < 0 || element.index[d] >= (*shape)[d])
          return user_error(place, "{}[{}] lies outside its shape [{}]", input.tensor,
                            fmt::join(element.index, ","), fmt::join(*shape, ","));
      if (!is_legal_value(spec.domain, type, limit, element.bits))
        return user_error(place, "the value is not legal for {}, which holds {}", input.tensor,
                          name_of(spec.domain.kind));
    }
    if (const auto fault = layout_fault(input.layout, *shape, spec.layout))
      return user_error(at(key + (input.layout.strides.empty() ? ".offset" : ".strides")), "{}: {}",
                        input.tensor, *fault);
    return {};
  }

  Result<void> check_distribution_of(const TensorInput& input, const Distribution& distribution,
                                     const Domain& domain, const Place& place) const {
    ASSAY_TRY_VOID(check_distribution(distribution, place));
    if (!fits(find_distribution(distribution.kind)->kind, domain))
      return user_error(place, "{} does not fit {}, which holds {}", distribution.kind, input.tensor,
                        name_of(domain.kind));
    return {};
  }

  const Case& case_;
  const CaseSpace& space_;
};

} // namespace

Result<void> check_case(const Case& test_case, const CaseSpace& space) {
  return Checker(test_case, space).run();
}

} // namespace assay
