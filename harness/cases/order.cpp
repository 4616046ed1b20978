#include "harness/cases/order.h"

#include "harness/cases/value_text.h"

#include <algorithm>
#include <limits>

namespace assay {

namespace {

using Amount = std::uint64_t;

Amount add(Amount a, Amount b) {
  Amount sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<Amount>::max() : sum;
}
Amount multiply(Amount a, Amount b) {
  Amount product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<Amount>::max() : product;
}

Amount rank(const Distribution& distribution) {
  const DistributionRule* rule = find_distribution(distribution.kind);
  return rule == nullptr ? distribution_rules().size() : static_cast<Amount>(rule->kind);
}
Spread spread(const Distribution& distribution) {
  const DistributionRule* rule = find_distribution(distribution.kind);
  return rule == nullptr ? Spread::everything : rule->spread;
}

// f32, f64, f16, bf16, f8e4m3, f8e5m2, and then the rest in their own order.
Amount rank(DType type) {
  switch (type) {
  case DType::f32:
    return 0;
  case DType::f64:
    return 1;
  default:
    return static_cast<Amount>(type);
  }
}

} // namespace

CaseSize size_of(const Case& test_case) {
  Amount volume = 1, extent = 0, generated = 0, single = 0, layouts = 0, offsets = 0, ranks = 0, digits = 0,
         seeds = 0, letters = 0;
  for (const auto& [name, size] : test_case.dims) {
    volume = multiply(volume, static_cast<Amount>(std::max<std::int64_t>(size, 0)));
    extent = add(extent, static_cast<Amount>(std::max<std::int64_t>(size, 0)));
  }
  const auto count = [&](const Distribution& distribution) {
    generated += spread(distribution) == Spread::everything;
    single += spread(distribution) == Spread::one_a_line;
    ranks += rank(distribution);
    letters += to_text(distribution).size();
  };
  for (const TensorInput& input : test_case.inputs) {
    count(input.distribution);
    for (const LinePatch& patch : input.patches) {
      count(patch.distribution);
      single = add(single, static_cast<Amount>(std::max<std::int64_t>(patch.count, 0)));
    }
    single = add(single, input.overrides.size());
    for (const ElementOverride& element : input.overrides)
      digits += value_text(input.dtype.value_or(test_case.dtype), element.bits).size();
    layouts += !input.layout.strides.empty();
    offsets += input.layout.offset != 0;
    seeds += input.seed == 0 ? 0 : fmt::format("{}", input.seed).size();
  }
  seeds += test_case.schedule_seed == 0 ? 0 : fmt::format("{}", test_case.schedule_seed).size();
  for (const auto& [name, value] : test_case.params) seeds += fmt::format("{}", value).size();

  return {{volume, extent, generated, single, static_cast<Amount>(test_case.pass), rank(test_case.dtype),
           layouts, offsets, ranks, letters, digits, seeds},
          to_text(test_case)};
}

bool simpler(const Case& a, const Case& b) { return size_of(a) < size_of(b); }

} // namespace assay
