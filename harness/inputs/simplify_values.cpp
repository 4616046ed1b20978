#include "harness/cases/value_text.h"
#include "harness/inputs/fill.h"
#include "harness/inputs/kinds.h"
#include "harness/inputs/simplifier.h"
#include "harness/numerics/formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace assay {

namespace {

constexpr std::int64_t most_materialised = 2048; // elements of a tensor
constexpr std::size_t most_one_by_one = 64;      // overrides tried each alone
constexpr std::size_t most_constants = 4;        // overrides whose value is tried everywhere

} // namespace

void Simplifier::patches() {
  offer_all_inputs([](TensorInput& input) { return !std::exchange(input.patches, {}).empty(); });
  for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
    offer_without_parts(i, &TensorInput::patches);
    for (const LinePatch& patch : case_.inputs[i].patches) // what fails in some lines may fail in all
      offer_input(i, [&](TensorInput& input) {
        input.distribution = patch.distribution;
        return !std::exchange(input.patches, {}).empty();
      });
    for (std::size_t p = 0; p < case_.inputs[i].patches.size(); ++p) {
      const auto shrink = [&](auto change) {
        offer_input(i, [&](TensorInput& input) {
          const LinePatch before = input.patches[p];
          change(input.patches[p]);
          return input.patches[p] != before;
        });
      };
      shrink([](LinePatch& patch) { patch = {0, 1, 1, patch.distribution}; });
      shrink([](LinePatch& patch) { patch.count = 1; });
      shrink([](LinePatch& patch) { patch.count = (patch.count + 1) / 2; });
      shrink([](LinePatch& patch) { patch.step = 1; });
      shrink([](LinePatch& patch) { patch.first = 0; });
    }
  }
}

template <class Entries>
void Simplifier::offer_without_parts(std::size_t which, Entries TensorInput::* list) {
  const std::size_t count = (case_.inputs[which].*list).size();
  const std::size_t finest = count <= most_one_by_one ? count : 16;
  for (std::size_t parts = 1; count > 0; parts = std::min(2 * parts, finest)) {
    for (std::size_t part = 0; part < parts; ++part)
      offer_input(which, [&](TensorInput& input) {
        auto& entries = input.*list;
        const auto first = static_cast<std::ptrdiff_t>(part * count / parts);
        const auto last = static_cast<std::ptrdiff_t>((part + 1) * count / parts);
        entries.erase(entries.begin() + first, entries.begin() + last);
        return first != last;
      });
    if (parts >= finest) break;
  }
}

void Simplifier::overrides() {
  for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
    offer_without_parts(i, &TensorInput::overrides);
    constants(i);
  }
}

// One of the overriding values everywhere, and nothing else.
void Simplifier::constants(std::size_t which) {
  const TensorInput& now = case_.inputs[which];
  const DType type = now.dtype.value_or(case_.dtype);
  for (std::size_t e = 0; e < std::min(now.overrides.size(), most_constants); ++e)
    offer_input(which, [&](TensorInput& input) {
      set_kind(input, input.distribution, DistributionKind::constant);
      if (input.distribution.kind != "constant") return false;
      input.distribution.params[0].second = from_bits(type, now.overrides[e].bits);
      input.overrides.clear();
      input.patches.clear();
      return check_distribution(input.distribution, {}).has_value();
    });
}

void Simplifier::materialise() {
  for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
    const TensorInput& input = case_.inputs[i];
    const InputSpec* spec = spec_of(input);
    const DistributionRule* rule = find_distribution(input.distribution.kind);
    if (spec == nullptr || rule == nullptr || (rule->spread == Spread::nothing && input.patches.empty()))
      continue;
    const auto shape = shape_of(*spec, case_.dims);
    if (!shape || element_count(*shape) == 0) continue;
    if (element_count(*shape) > most_materialised) {
      one_element(i, *shape);
      continue;
    }
    const DType type = spec->dtype.value_or(case_.dtype);
    const Tensor tensor = fill(input, type, *shape, spec->domain, case_.dims);
    for (const DistributionKind base : {DistributionKind::zero, DistributionKind::constant})
      if (fits(base, spec->domain)) {
        offer_input(i, [&](TensorInput& changed) {
          become(changed, base, tensor);
          return true;
        });
        break;
      }
  }
}

// Of a large tensor the last element, else the first, that differs from zeros.
void Simplifier::one_element(std::size_t which, const Shape& shape) {
  for (const bool last : {true, false})
    offer_input(which, [&](TensorInput& input) {
      set_kind(input, input.distribution, DistributionKind::zero);
      if (input.distribution.kind != "zero") return false;
      ElementOverride element;
      for (const std::int64_t size : shape) element.index.push_back(last ? size - 1 : 0);
      element.bits = to_bits(input.dtype.value_or(case_.dtype), 1);
      input.patches.clear();
      input.overrides = {std::move(element)};
      return true;
    });
}

// `base` everywhere, and every element of `tensor` that differs from it as an override.
void Simplifier::become(TensorInput& input, DistributionKind base, const Tensor& tensor) const {
  input.distribution = make_distribution(base);
  input.seed = 0;
  input.patches.clear();
  input.overrides.clear();
  const std::size_t size = size_of(tensor.dtype);
  const std::uint64_t base_bits = to_bits(tensor.dtype, base == DistributionKind::zero ? 0 : 1);
  for (std::int64_t e = 0; e < tensor.element_count(); ++e) {
    ElementOverride element;
    std::memcpy(&element.bits, tensor.bytes.data() + static_cast<std::size_t>(e) * size, size);
    if (element.bits == base_bits) continue;
    element.index.resize(tensor.shape.size());
    std::int64_t rest = e;
    for (std::size_t d = tensor.shape.size(); d-- > 0; rest /= tensor.shape[d])
      element.index[d] = rest % tensor.shape[d];
    input.overrides.push_back(std::move(element));
  }
}

void Simplifier::values() {
  for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
    const TensorInput& now = case_.inputs[i];
    const DType type = now.dtype.value_or(case_.dtype);
    if (now.overrides.size() > most_one_by_one) continue;
    for (std::size_t e = 0; e < now.overrides.size(); ++e) {
      const double value = from_bits(type, now.overrides[e].bits);
      std::vector<double> rounder{0, 1, -1};
      if (std::isfinite(value))
        for (const double wanted : {std::trunc(value), rounded_to_digits(value, 1),
                                    rounded_to_digits(value, 2), rounded_to_digits(value, 3)})
          rounder.push_back(wanted);
      for (const double wanted : rounder)
        if (const auto bits = parse_value(type, fmt::format("{}", wanted)))
          offer_input(
              i, [&](TensorInput& input) { return std::exchange(input.overrides[e].bits, *bits) != *bits; });
    }
  }
}

} // namespace assay
