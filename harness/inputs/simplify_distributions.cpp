#include "harness/inputs/kinds.h"
#include "harness/inputs/simplifier.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {

void Simplifier::distributions() {
  for (const DistributionKind kind : {DistributionKind::zero, DistributionKind::constant})
    offer_all_inputs([&](TensorInput& input) { return set_kind(input, input.distribution, kind); });
  for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
    simpler_kinds(i, [](TensorInput& input) -> Distribution& { return input.distribution; });
    for (std::size_t p = 0; p < case_.inputs[i].patches.size(); ++p)
      simpler_kinds(i, [p](TensorInput& input) -> Distribution& { return input.patches[p].distribution; });
  }
}

bool Simplifier::set_kind(const TensorInput& input, Distribution& distribution, DistributionKind kind) const {
  const InputSpec* spec = spec_of(input);
  if (spec == nullptr || !fits(kind, spec->domain)) return false;
  const Distribution wanted = make_distribution(kind);
  return std::exchange(distribution, wanted) != wanted;
}

template <class Get> void Simplifier::simpler_kinds(std::size_t which, Get get) {
  TensorInput copy = case_.inputs[which];
  const Distribution now = get(copy);
  const DistributionRule* rule = find_distribution(now.kind);
  if (rule == nullptr) return;
  for (const DistributionRule& simpler_rule : distribution_rules()) {
    if (simpler_rule.kind > rule->kind) break; // its own kind once more, at its defaults
    offer_input(which, [&](TensorInput& input) { return set_kind(input, get(input), simpler_rule.kind); });
    for (std::size_t p = 0; p < simpler_rule.params.size(); ++p)
      if (simpler_rule.params[p].name == "place") // at the ends of a line rather than inside
        for (const double place : {0.0, 1.0})
          offer_input(which, [&](TensorInput& input) {
            return set_kind(input, get(input), simpler_rule.kind) &&
                   (get(input).params[p].second = place, true);
          });
    if (simpler_rule.kind == DistributionKind::constant) // a constant as large as what it replaces
      for (const auto& [name, value] : now.params)
        offer_input(which, [&](TensorInput& input) {
          return set_kind(input, get(input), DistributionKind::constant) &&
                 (get(input).params[0].second = value, true);
        });
  }
  for (std::size_t p = 0; p < now.params.size(); ++p) {
    const DistributionParam& param = rule->params[p];
    const double value = now.params[p].second;
    for (const double rounder :
         {param.initial, 0.0, 1.0, -1.0, std::round(value), rounded_to_digits(value, 1),
          rounded_to_digits(value, 2), rounded_to_digits(value, 3)})
      offer_input(which, [&](TensorInput& input) {
        Distribution& distribution = get(input);
        distribution.params[p].second = rounder;
        return distribution != now && check_distribution(distribution, {}).has_value();
      });
  }
}

} // namespace assay
