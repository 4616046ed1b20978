#include "harness/inputs/draw.h"

#include "harness/base/check.h"
#include "harness/inputs/kinds.h"
#include "harness/inputs/shapes.h"
#include "harness/numerics/formats.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace assay {

namespace {

using Pair = std::pair<double, double>;

template <std::size_t n> double pick(const double (&values)[n], Rng& rng) {
  return rng.pick(std::span<const double>(values));
}

double signed_value(double magnitude, Rng& rng) { return rng.chance(0.5) ? magnitude : -magnitude; }

// Three significant digits, so that a drawn number reads well in a case.
double round_digits(double value) {
  const std::string text = fmt::format("{:.3g}", value);
  double rounded = value;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

double draw_magnitude(Rng& rng) {
  static constexpr double known[] = {1,    0.5, 2,     10,   16,   88,   100, 1000,
                                     2049, 3e4, 65504, 1e-3, 1e-5, 1e-8, 1e6, 1e12};
  if (rng.chance(0.7)) return pick(known, rng);
  return round_digits(std::ldexp(1 + rng.unit(), static_cast<int>(rng.between(-24, 24))));
}

Pair draw_range(bool exponents, Rng& rng) {
  static constexpr Pair reals[] = {{-1, 1},  {0, 1},    {1, 2},          {-10, 10},
                                   {0, 100}, {-100, 0}, {-0.001, 0.001}, {-1000, 1000}};
  static constexpr Pair powers[] = {{-8, 8}, {-2, 2},   {-20, 20},    {-14, 0},
                                    {0, 14}, {-60, 60}, {-126, -100}, {-24, -10}};
  return rng.pick(exponents ? std::span<const Pair>(powers) : std::span<const Pair>(reals));
}

double draw_param(const DistributionParam& param, Rng& rng) {
  static constexpr double spreads[] = {1e-5, 1e-3, 0.03, 0.25, 4, 10, 100, 1e4};
  static constexpr double offsets[] = {10, 100, 300, 1000, 1e4, 1e5};
  static constexpr double magnitudes[] = {10, 20, 60, 88, 90, 100, 500, 1e4, 6e4};
  static constexpr double noises[] = {1e-2, 1e-3, 1e-4, 1e-6};
  static constexpr double shares[] = {0.01, 0.05, 0.1, 0.5};
  static constexpr double edges[] = {0, 0.25, 0.5, 1};
  static constexpr double tie_bits[] = {3, 7, 10, 2};
  static constexpr double limits[] = {127, 7, 63};
  const std::string_view name = param.name;
  if (name == "value") return signed_value(draw_magnitude(rng), rng);
  if (name == "stddev" || name == "scale") return rng.chance(0.6) ? 1 : pick(spreads, rng);
  if (name == "mean") return rng.chance(0.6) ? 0 : signed_value(pick(offsets, rng), rng);
  if (name == "offset") return signed_value(pick(offsets, rng), rng);
  if (name == "magnitude") return pick(magnitudes, rng);
  if (name == "noise") return pick(noises, rng);
  if (name == "density" || name == "share") return pick(shares, rng);
  if (name == "edges") return pick(edges, rng);
  if (name == "bits") return pick(tie_bits, rng);
  if (name == "limit") return pick(limits, rng);
  if (name == "place") return rng.chance(0.5) ? static_cast<double>(rng.below(2)) : round_digits(rng.unit());
  return param.initial;
}

// Parameters drawn together where one without the other makes no sense.
Distribution draw_params(const DistributionRule& rule, Rng& rng) {
  Distribution result = make_distribution(rule.kind);
  for (std::size_t i = 0; i < rule.params.size(); ++i)
    result.params[i].second = draw_param(rule.params[i], rng);
  if (rule.kind == DistributionKind::beside_ties) {
    static constexpr std::array<double, 3> formats[] = {
        {3, -6, 8}, {2, -14, 15}, {10, -14, 15}, {7, -126, 127}}; // E4M3, E5M2, f16, bf16
    const std::array<double, 3> format = rng.pick(std::span<const std::array<double, 3>>(formats));
    for (std::size_t i = 0; i < format.size(); ++i) result.params[i].second = format[i];
  }
  if (rule.params.size() == 2 && rule.params[0].name == "low")
    std::tie(result.params[0].second, result.params[1].second) = draw_range(rule.params[0].integer, rng);
  return result;
}

std::vector<DistributionKind> kinds_for(const Domain& domain, bool specials) {
  std::vector<DistributionKind> kinds;
  for (const DistributionRule& rule : distribution_rules())
    if (fits(rule.kind, domain) && (specials || rule.kind != DistributionKind::specials))
      kinds.push_back(rule.kind);
  return kinds;
}

} // namespace

Distribution draw_distribution(const Domain& domain, bool specials, Rng& rng) {
  if (rng.chance(0.15)) return usual_distribution(domain);
  if (specials && rng.chance(0.4)) return draw_params(rule_of(DistributionKind::specials), rng);
  const std::vector<DistributionKind> kinds = kinds_for(domain, specials);
  return draw_params(rule_of(rng.pick(std::span<const DistributionKind>(kinds))), rng);
}

Distribution tweak(const Distribution& distribution, Rng& rng) {
  const DistributionRule* rule = find_distribution(distribution.kind);
  ASSAY_CHECK(rule != nullptr, "unknown distribution {}", distribution.kind);
  if (rule->params.empty()) return distribution;
  Distribution result = distribution;
  const std::size_t which = rng.below(rule->params.size());
  const DistributionParam& param = rule->params[which];
  double& value = result.params[which].second;
  switch (rng.below(6)) {
  case 0:
    value *= 2;
    break;
  case 1:
    value /= 2;
    break;
  case 2:
    value = -value;
    break;
  case 3:
    value = param.initial;
    break;
  case 4:
    value = round_digits(value * (0.5 + rng.unit()));
    break;
  default:
    value = draw_params(*rule, rng).params[which].second;
    break;
  }
  if (param.integer) value = std::floor(value);
  value = std::clamp(value, param.min, param.max);
  if (!check_distribution(result, {})) return draw_params(*rule, rng); // low above high
  return result;
}

std::uint64_t draw_seed(Rng& rng) { return 1 + rng.below(1'000'000); }

LinePatch draw_patch(const Shape& shape, const Domain& domain, bool specials, Rng& rng) {
  const std::int64_t lines = line_count(shape);
  LinePatch patch;
  patch.first = rng.chance(0.3) ? 0 : rng.chance(0.3) ? lines - 1 : rng.between(0, lines - 1);
  if (rng.chance(0.3)) {
    patch.step = rng.between(1, 4);
    patch.count = rng.between(1, (lines - 1 - patch.first) / patch.step + 1);
  }
  patch.distribution = draw_distribution(domain, specials, rng);
  return patch;
}

ElementOverride draw_override(const Shape& shape, const Domain& domain, DType type, std::int64_t limit,
                              bool specials, Rng& rng) {
  ElementOverride element;
  for (const std::int64_t size : shape)
    element.index.push_back(rng.chance(0.25) ? 0 : rng.chance(0.33) ? size - 1 : rng.between(0, size - 1));
  for (int attempt = 0; attempt < 8; ++attempt) {
    double value = signed_value(draw_magnitude(rng), rng);
    if (!is_float(type) || domain.kind == Domain::Kind::index)
      value = static_cast<double>(rng.between(-1, std::max<std::int64_t>(limit, 2)));
    else if (rng.chance(0.1))
      value = signed_value(format_of(type).largest, rng);
    else if (rng.chance(0.1))
      value = signed_value(format_of(type).min_subnormal, rng);
    else if (rng.chance(0.1))
      value = signed_value(0, rng);
    else if (specials && rng.chance(0.3))
      value = rng.chance(0.4) ? std::numeric_limits<double>::quiet_NaN() : signed_value(HUGE_VAL, rng);
    if (is_float(type) && std::isfinite(value))
      value = std::clamp(value, -format_of(type).largest, format_of(type).largest);
    element.bits = to_bits(type, value);
    if (std::isnan(value) && rng.chance(0.5)) element.bits |= sign_bit(type);
    if (is_legal_value(domain, type, limit, element.bits)) return element;
  }
  element.bits = to_bits(type, domain.kind == Domain::Kind::scale ? 1 : 0); // legal everywhere else
  return element;
}

Layout draw_layout(const Shape& shape, const LayoutText& allowed, Rng& rng) {
  Layout layout;
  if (rng.chance(0.5))
    layout.strides =
        padded_strides(shape, allowed, rng.between(0, 9), rng.chance(0.3) ? rng.between(2, 3) : 1);
  if (allowed.offset && rng.chance(0.5)) layout.offset = rng.between(1, 7);
  if (layout_fault(layout, shape, allowed)) return {};
  return layout;
}

std::int64_t draw_share(Rng& rng) {
  const std::uint64_t luck = rng.below(100);
  return usual_share * (luck < 60 ? 64 : luck < 94 ? 16 : 1);
}

Dims draw_dims(const CaseSpace& space, Rng& rng) {
  Dims dims;
  for (std::size_t d = 0; d < space.dims.size(); ++d)
    dims.emplace_back(space.dims[d].name, draw_size(space.dims[d], known_sizes(space, d, rng), rng));
  fit_budgets(dims, space, draw_share(rng));
  return dims;
}

TensorInput draw_input(const InputSpec& spec, const Case& test_case, bool plain, Rng& rng) {
  TensorInput input;
  input.tensor = spec.name;
  input.dtype = spec.dtype;
  input.seed = draw_seed(rng);
  const bool specials = spec.domain.specials && test_case.pass == Pass::forward && rng.chance(0.1);
  input.distribution = plain && rng.chance(0.7) ? usual_distribution(spec.domain)
                                                : draw_distribution(spec.domain, specials, rng);
  const auto shape = shape_of(spec, test_case.dims);
  if (!shape || element_count(*shape) == 0) return input;
  if (!plain && line_count(*shape) > 1 && rng.chance(0.2))
    input.patches.push_back(draw_patch(*shape, spec.domain, specials, rng));
  if (!plain && rng.chance(0.15)) {
    const DType type = spec.dtype.value_or(test_case.dtype);
    const std::int64_t limit = index_limit(spec.domain, test_case.dims);
    for (std::int64_t n = rng.between(1, 3); n > 0; --n)
      input.overrides.push_back(draw_override(*shape, spec.domain, type, limit, specials, rng));
  }
  input.layout = draw_layout(*shape, spec.layout, rng);
  return input;
}

} // namespace assay
