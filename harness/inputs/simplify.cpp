#include "harness/inputs/shapes.h"
#include "harness/inputs/simplifier.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace assay {

Simplifier::Simplifier(const Case& test_case, const CaseSpace& space)
    : case_(test_case), space_(space), size_(size_of(test_case)) {}

std::vector<Case> Simplifier::run(Axis axis) {
  case_.lines = {};
  switch (axis) {
  case Axis::dims:
    dims();
    break;
  case Axis::pass:
    pass();
    break;
  case Axis::dtype:
    dtype();
    break;
  case Axis::layout:
    layout();
    break;
  case Axis::patches:
    patches();
    break;
  case Axis::distributions:
    distributions();
    break;
  case Axis::materialise:
    materialise();
    break;
  case Axis::overrides:
    overrides();
    break;
  case Axis::values:
    values();
    break;
  case Axis::params:
    params();
    break;
  case Axis::seeds:
    seeds();
    break;
  }
  return std::move(found_);
}

void Simplifier::offer(Case candidate, bool keep_places) {
  if (!make_legal(candidate, space_, keep_places)) return;
  if (!(size_of(candidate) < size_)) return;
  if (std::ranges::find(found_, candidate) == found_.end()) found_.push_back(std::move(candidate));
}

const DimRange* Simplifier::range_of(const std::string& name) const {
  const auto range = std::ranges::find(space_.dims, name, &DimRange::name);
  return range == space_.dims.end() ? nullptr : &*range;
}

const InputSpec* Simplifier::spec_of(const TensorInput& input) const {
  const auto spec = std::ranges::find(space_.inputs, input.tensor, &InputSpec::name);
  return spec == space_.inputs.end() ? nullptr : &*spec;
}

double rounded_to_digits(double value, int count) {
  const std::string text = fmt::format("{:.{}g}", value, count);
  double rounded = value;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

void Simplifier::pass() {
  Case candidate = case_;
  candidate.pass = Pass::forward;
  offer(std::move(candidate));
}

void Simplifier::dtype() {
  for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::f8e4m3}) {
    if (std::ranges::find(space_.dtypes, type) == space_.dtypes.end()) continue;
    Case candidate = case_;
    set_dtype(candidate, type);
    offer(std::move(candidate));
  }
}

void Simplifier::params() {
  for (std::size_t i = 0; i < case_.params.size(); ++i)
    for (const ParamSpec& spec : space_.params)
      if (spec.name == case_.params[i].first)
        for (const double value : spec.values) {
          Case candidate = case_;
          candidate.params[i].second = value;
          offer(std::move(candidate));
        }
}

void Simplifier::seeds() {
  Case none = case_;
  none.schedule_seed = 0;
  for (TensorInput& input : none.inputs) input.seed = 0;
  offer(none);
  for (std::size_t i = 0; i < case_.inputs.size(); ++i)
    for (const std::uint64_t seed : {0, 1, 2, 3})
      offer_input(i, [&](TensorInput& input) { return std::exchange(input.seed, seed) != seed; });
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    Case candidate = case_;
    candidate.schedule_seed = seed;
    offer(std::move(candidate));
  }
}

std::vector<Case> simplifications(const Case& test_case, const CaseSpace& space, Axis axis) {
  return Simplifier(test_case, space).run(axis);
}

} // namespace assay
