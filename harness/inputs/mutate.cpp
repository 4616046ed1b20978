#include "harness/base/check.h"
#include "harness/inputs/draw.h"
#include "harness/inputs/shapes.h"

#include <algorithm>

namespace assay {

namespace {

constexpr std::size_t most_patches = 4;
constexpr std::size_t most_overrides = 8;

// Makes a mutated case legal, and within that share of the budgets again.
void settle(Case& test_case, const CaseSpace& space, std::int64_t share) {
  fit_budgets(test_case.dims, space, share);
  auto repaired = repair(std::move(test_case), space);
  ASSAY_CHECK(repaired.has_value(), "a mutated case cannot be repaired: {}", repaired.error().message);
  test_case = *std::move(repaired);
}

const InputSpec& spec_of(const CaseSpace& space, const TensorInput& input) {
  const auto spec = std::ranges::find(space.inputs, input.tensor, &InputSpec::name);
  ASSAY_CHECK(spec != space.inputs.end(), "input {} is not of this kernel", input.tensor);
  return *spec;
}

void mutate_dims(Case& test_case, const CaseSpace& space, Rng& rng) {
  if (space.dims.empty()) return;
  if (rng.chance(0.1)) {
    test_case.dims = draw_dims(space, rng);
    return;
  }
  const std::size_t d = rng.below(space.dims.size());
  const DimRange& range = space.dims[d];
  std::int64_t& size = test_case.dims[d].second;
  switch (rng.below(7)) {
  case 0:
    size = legal_size(range, size + range.multiple_of);
    break;
  case 1:
    size = legal_size(range, size - range.multiple_of);
    break;
  case 2:
    size = legal_size(range, size * 2);
    break;
  case 3:
    size = legal_size(range, size / 2);
    break;
  case 4: { // the sizes of two dims
    const std::size_t other = rng.below(space.dims.size());
    std::swap(size, test_case.dims[other].second);
    break;
  }
  default:
    size = draw_size(range, known_sizes(space, d, rng), rng);
    break;
  }
}

void mutate_patches(TensorInput& input, const InputSpec& spec, const Shape& shape, bool specials, Rng& rng) {
  if (!input.patches.empty() && (input.patches.size() >= most_patches || rng.chance(0.4))) {
    const auto which = static_cast<std::ptrdiff_t>(rng.below(input.patches.size()));
    if (rng.chance(0.5))
      input.patches.erase(input.patches.begin() + which);
    else
      input.patches[static_cast<std::size_t>(which)].distribution =
          draw_distribution(spec.domain, specials, rng);
  } else if (line_count(shape) > 0) {
    input.patches.push_back(draw_patch(shape, spec.domain, specials, rng));
  }
}

void mutate_overrides(TensorInput& input, const InputSpec& spec, const Shape& shape, const Case& test_case,
                      bool specials, Rng& rng) {
  if (!input.overrides.empty() && (input.overrides.size() >= most_overrides || rng.chance(0.3))) {
    input.overrides.erase(input.overrides.begin() +
                          static_cast<std::ptrdiff_t>(rng.below(input.overrides.size())));
  } else if (element_count(shape) > 0) {
    input.overrides.push_back(draw_override(shape, spec.domain, spec.dtype.value_or(test_case.dtype),
                                            index_limit(spec.domain, test_case.dims), specials, rng));
  }
}

void mutate_input(Case& test_case, const CaseSpace& space, Rng& rng) {
  if (test_case.inputs.empty()) return;
  TensorInput& input = test_case.inputs[rng.below(test_case.inputs.size())];
  const InputSpec& spec = spec_of(space, input);
  const auto shape = shape_of(spec, test_case.dims);
  if (!shape) return;
  const bool specials = spec.domain.specials && test_case.pass == Pass::forward && rng.chance(0.1);
  switch (rng.below(10)) {
  case 0:
  case 1:
  case 2:
    input.distribution = draw_distribution(spec.domain, specials, rng);
    break;
  case 3:
  case 4:
    input.distribution = tweak(input.distribution, rng);
    break;
  case 5:
    input.seed = draw_seed(rng);
    break;
  case 6:
    mutate_patches(input, spec, *shape, specials, rng);
    break;
  case 7:
    mutate_overrides(input, spec, *shape, test_case, specials, rng);
    break;
  case 8:
    input.layout = draw_layout(*shape, spec.layout, rng);
    break;
  default:
    input = draw_input(spec, test_case, false, rng);
    break;
  }
}

void mutate_once(Case& test_case, const CaseSpace& space, Rng& rng) {
  switch (rng.below(20)) {
  case 0:
    set_dtype(test_case, rng.pick(std::span<const DType>(space.dtypes)));
    return;
  case 1: {
    if (!space.has_backward) break;
    test_case.pass = test_case.pass == Pass::forward ? Pass::backward : Pass::forward;
    return;
  }
  case 2:
    test_case.schedule_seed = rng.below(1 << 16);
    return;
  case 3: {
    if (space.params.empty()) break;
    const std::size_t which = rng.below(space.params.size());
    test_case.params[which].second = rng.pick(std::span<const double>(space.params[which].values));
    return;
  }
  default:
    break;
  }
  if (rng.chance(0.4))
    mutate_dims(test_case, space, rng);
  else
    mutate_input(test_case, space, rng);
}

} // namespace

Case draw_case(const CaseSpace& space, Rng& rng) {
  Case result;
  result.dtype = rng.pick(std::span<const DType>(space.dtypes));
  result.pass = space.has_backward && rng.chance(0.5) ? Pass::backward : Pass::forward;
  result.dims = draw_dims(space, rng);
  for (const ParamSpec& spec : space.params)
    result.params.emplace_back(spec.name, rng.pick(std::span<const double>(spec.values)));
  result.schedule_seed = rng.below(1 << 16);
  std::size_t taking_part = 0;
  for (const InputSpec& spec : space.inputs) taking_part += takes_part(spec, result.pass);
  // One input is under attack, the others are mostly plain: two strange ones hide each other's effect.
  const std::uint64_t attacked = rng.below(std::max<std::size_t>(taking_part, 1));
  for (const InputSpec& spec : space.inputs)
    if (takes_part(spec, result.pass))
      result.inputs.push_back(draw_input(spec, result, result.inputs.size() != attacked, rng));
  settle(result, space, usual_share);
  return result;
}

Case mutate(const Case& test_case, const CaseSpace& space, Rng& rng) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const std::int64_t share = draw_share(rng);
    Case result = test_case;
    settle(result, space, share);
    const int changes = rng.chance(0.7) ? 1 : static_cast<int>(rng.between(2, 4));
    for (int i = 0; i < changes; ++i) {
      mutate_once(result, space, rng);
      settle(result, space, share);
    }
    if (result != test_case) return result;
  }
  return draw_case(space, rng);
}

Case crossover(const Case& a, const Case& b, const CaseSpace& space, Rng& rng) {
  const bool from_a = rng.chance(0.5);
  Case result = from_a ? a : b;
  const Case& other = from_a ? b : a;
  const std::int64_t share = draw_share(rng);
  settle(result, space, share);
  if (rng.chance(0.3)) set_dtype(result, other.dtype);
  if (rng.chance(0.25)) {
    const std::size_t d = rng.below(std::max<std::size_t>(result.dims.size(), 1));
    if (const std::int64_t size = d < result.dims.size() ? dim_value(other.dims, result.dims[d].first) : -1;
        size >= 0)
      result.dims[d].second = size;
  }
  for (TensorInput& input : result.inputs) {
    const auto theirs = std::ranges::find(other.inputs, input.tensor, &TensorInput::tensor);
    if (theirs == other.inputs.end() || rng.chance(0.5)) continue;
    const DType from = theirs->dtype.value_or(other.dtype);
    const DType to = input.dtype.value_or(result.dtype);
    const std::optional<DType> own = input.dtype;
    input = *theirs;
    input.dtype = own;
    for (ElementOverride& element : input.overrides) element.bits = convert_bits(from, to, element.bits);
  }
  if (rng.chance(0.5)) result.schedule_seed = other.schedule_seed;
  settle(result, space, share);
  return result;
}

} // namespace assay
