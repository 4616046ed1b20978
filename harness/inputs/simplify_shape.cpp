#include "harness/inputs/shapes.h"
#include "harness/inputs/simplifier.h"

#include <algorithm>
#include <utility>

namespace assay {

namespace {

constexpr std::int64_t fewest_to_draw_anew = 512, most_to_draw_anew = std::int64_t{1} << 15; // elements

} // namespace

void Simplifier::offer_dims(const Dims& dims) {
  Case candidate = case_;
  candidate.dims = dims;
  const bool places = std::ranges::any_of(case_.inputs, [](const TensorInput& input) {
    return !input.patches.empty() || !input.overrides.empty();
  });
  if (places) offer(candidate, true);
  offer(std::move(candidate));
}

void Simplifier::dims() {
  Dims all = case_.dims;
  for (auto& [name, size] : all)
    if (const DimRange* range = range_of(name)) size = std::min(size, legal_size(*range, range->min));
  offer_dims(all);
  for (std::size_t d = 0; d < case_.dims.size(); ++d) {
    const DimRange* range = range_of(case_.dims[d].first);
    if (range == nullptr) continue;
    const std::int64_t now = case_.dims[d].second;
    std::vector<std::int64_t> sizes{range->min, 1, 2, 3, 4};
    for (std::int64_t cut = now - range->min; cut > 0; cut /= 2) sizes.push_back(now - cut);
    for (std::int64_t less = 1; less <= 3; ++less) sizes.push_back(now - less * range->multiple_of);
    for (const std::int64_t wanted : sizes) {
      Dims changed = case_.dims;
      changed[d].second = legal_size(*range, wanted);
      if (changed[d].second < now) offer_dims(changed);
    }
  }
  fewer_drawn_anew();
}

// What shows in a mean over many elements shows over fewer where these differ from seed to seed, so that
// seeds can be pooled: plain random values for a size of which all elements were needed.
void Simplifier::fewer_drawn_anew() {
  Case drawn = case_;
  std::int64_t most = 0;
  for (TensorInput& input : drawn.inputs) {
    const InputSpec* spec = spec_of(input);
    const auto shape = spec == nullptr ? Result<Shape>(Shape{}) : shape_of(*spec, case_.dims);
    if (spec == nullptr || !shape) return;
    most = std::max(most, element_count(*shape));
    input.distribution = usual_distribution(spec->domain);
    input.patches.clear();
    input.overrides.clear();
  }
  if (drawn == case_ || most < fewest_to_draw_anew || most > most_to_draw_anew) return;
  for (std::size_t d = 0; d < case_.dims.size(); ++d)
    if (const DimRange* range = range_of(case_.dims[d].first))
      for (const std::int64_t share : {8, 4, 2}) {
        Case candidate = drawn;
        candidate.dims[d].second = legal_size(*range, case_.dims[d].second / share);
        if (candidate.dims[d].second < case_.dims[d].second) offer(std::move(candidate));
      }
}

void Simplifier::layout() {
  const auto dense = [](TensorInput& input) { return std::exchange(input.layout, Layout{}) != Layout{}; };
  offer_all_inputs(dense);
  for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
    offer_input(i, dense);
    offer_input(i, [](TensorInput& input) { return std::exchange(input.layout.offset, 0) != 0; });
    offer_input(i, [](TensorInput& input) { return !std::exchange(input.layout.strides, {}).empty(); });
    if (!case_.inputs[i].layout.strides.empty()) plainer_strides(i);
    offer_input(i,
                [](TensorInput& input) { return input.layout.offset > 1 && (input.layout.offset = 1) == 1; });
  }
}

void Simplifier::plainer_strides(std::size_t which) {
  const InputSpec* spec = spec_of(case_.inputs[which]);
  const auto shape = spec == nullptr ? Result<Shape>(Shape{}) : shape_of(*spec, case_.dims);
  if (spec == nullptr || !shape) return;
  for (const auto& [padding, step] : {std::pair(1, 1), std::pair(0, 2)}) {
    const auto strides = padded_strides(*shape, spec->layout, padding, step);
    offer_input(which,
                [&](TensorInput& input) { return std::exchange(input.layout.strides, strides) != strides; });
  }
}

} // namespace assay
