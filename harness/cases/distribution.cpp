#include "harness/cases/distribution.h"

#include "harness/base/check.h"
#include "harness/cases/names.h"

#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cmath>

namespace assay {

namespace {

using Kind = DistributionKind;
using Param = DistributionParam;

// Limits within which float32 inputs stay sensible; every storage type saturates at its own largest value.
constexpr double huge = 0x1p127;

constexpr Param value_one[] = {{"value", 1, -huge, huge}};
constexpr Param stddev_one[] = {{"stddev", 1, 0, huge}};
constexpr Param scale_one[] = {{"scale", 1, 0, huge}};
constexpr Param one_hot_params[] = {{"value", 1, -huge, huge}, {"place", 0.5, 0, 1}};
constexpr Param low_high[] = {{"low", -1, -huge, huge}, {"high", 1, -huge, huge}};
constexpr Param powers[] = {{"low", -8, -1074, 1023, true}, {"high", 8, -1074, 1023, true}};
constexpr Param normal_params[] = {{"mean", 0, -huge, huge}, {"stddev", 1, 0, huge}};
constexpr Param sparse_params[] = {{"density", 0.05, 0, 1}, {"stddev", 1, 0, huge}};
constexpr Param near_constant_params[] = {{"value", 1, -huge, huge}, {"noise", 1e-4, 0, huge}};
constexpr Param large_offset_params[] = {{"offset", 1000, -huge, huge}, {"stddev", 1, 0, huge}};
constexpr Param outlier_params[] = {
    {"value", 100, -huge, huge}, {"place", 0.5, 0, 1}, {"stddev", 1, 0, huge}};
constexpr Param swamping_params[] = {{"value", 0x1p24, -huge, huge}, {"place", 0.5, 0, 1}};
constexpr Param wide_params[] = {{"low", -20, -1074, 1023, true}, {"high", 20, -1074, 1023, true}};
constexpr Param extreme_params[] = {{"magnitude", 100, 0, huge}};
constexpr Param half_integer_params[] = {{"limit", 127, 1, 1 << 20, true}};
constexpr Param ties_params[] = {{"bits", 3, 1, 51, true}};
constexpr Param beside_ties_params[] = { // of E4M3
    {"bits", 3, 1, 51, true},
    {"low", -6, -900, 1000, true},
    {"high", 8, -900, 1000, true}};
constexpr Param specials_params[] = {{"share", 0.1, 0, 1}, {"stddev", 1, 0, huge}};
constexpr Param legal_params[] = {{"edges", 0.25, 0, 1}};

constexpr bool unseeded = false;
constexpr bool seeded = true;
constexpr bool sequential = true;

constexpr DistributionRule rules[] = {
    {Kind::zero, "zero", {}, Spread::nothing, unseeded},
    {Kind::constant, "constant", value_one, Spread::nothing, unseeded},
    {Kind::equal, "equal", stddev_one, Spread::everything, seeded},
    {Kind::alternating, "alternating", value_one, Spread::everything, unseeded},
    {Kind::one_hot, "one_hot", one_hot_params, Spread::one_a_line, unseeded},
    {Kind::ramp, "ramp", low_high, Spread::everything, unseeded},
    {Kind::index_coded, "index_coded", scale_one, Spread::everything, unseeded},
    {Kind::powers_of_two, "powers_of_two", powers, Spread::everything, seeded},
    {Kind::signed_zeros, "signed_zeros", {}, Spread::everything, seeded},
    {Kind::all_positive, "all_positive", scale_one, Spread::everything, seeded},
    {Kind::all_negative, "all_negative", scale_one, Spread::everything, seeded},
    {Kind::uniform, "uniform", low_high, Spread::everything, seeded},
    {Kind::normal, "normal", normal_params, Spread::everything, seeded},
    {Kind::sparse, "sparse", sparse_params, Spread::everything, seeded},
    {Kind::sorted_ascending, "sorted_ascending", stddev_one, Spread::everything, seeded, sequential},
    {Kind::sorted_descending, "sorted_descending", stddev_one, Spread::everything, seeded, sequential},
    {Kind::near_constant, "near_constant", near_constant_params, Spread::everything, seeded},
    {Kind::large_offset, "large_offset", large_offset_params, Spread::everything, seeded},
    {Kind::one_outlier, "one_outlier", outlier_params, Spread::everything, seeded},
    {Kind::swamping, "swamping", swamping_params, Spread::one_a_line, unseeded},
    {Kind::wide, "wide", wide_params, Spread::everything, seeded},
    {Kind::extreme_logits, "extreme_logits", extreme_params, Spread::everything, seeded},
    {Kind::cancelling_pairs, "cancelling_pairs", stddev_one, Spread::everything, seeded, sequential},
    {Kind::cancelling_sum, "cancelling_sum", stddev_one, Spread::everything, seeded, sequential},
    {Kind::half_integers, "half_integers", half_integer_params, Spread::everything, seeded},
    {Kind::ties, "ties", ties_params, Spread::everything, seeded},
    {Kind::beside_ties, "beside_ties", beside_ties_params, Spread::everything, seeded},
    {Kind::subnormal, "subnormal", {}, Spread::everything, seeded},
    {Kind::largest, "largest", {}, Spread::everything, seeded},
    {Kind::specials, "specials", specials_params, Spread::everything, seeded},
    {Kind::legal, "legal", legal_params, Spread::everything, seeded},
    {Kind::rotary, "rotary", {}, Spread::everything, unseeded},
    {Kind::rotary_split, "rotary_split", {}, Spread::everything, seeded},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(rules); ++i)
    if (rules[i].kind != static_cast<Kind>(i)) return false;
  return std::size(rules) == static_cast<std::size_t>(Kind::rotary_split) + 1;
}
static_assert(in_order());

std::string kind_names() {
  std::vector<std::string_view> names;
  for (const DistributionRule& rule : rules) names.push_back(rule.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

} // namespace

std::span<const DistributionRule> distribution_rules() { return rules; }

const DistributionRule& rule_of(DistributionKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  ASSAY_CHECK(index < std::size(rules), "distribution kind {}", index);
  return rules[index];
}

const DistributionRule* find_distribution(std::string_view name) {
  for (const DistributionRule& rule : rules)
    if (rule.name == name) return &rule;
  return nullptr;
}

Distribution make_distribution(DistributionKind kind) {
  const DistributionRule& rule = rule_of(kind);
  Distribution result{std::string(rule.name), {}};
  for (const Param& param : rule.params) result.params.emplace_back(param.name, param.initial);
  return result;
}

Distribution make_distribution(DistributionKind kind, std::span<const double> values) {
  Distribution result = make_distribution(kind);
  ASSAY_CHECK(values.size() == result.params.size(), "{} has {} parameters, not {}", result.kind,
              result.params.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result.params[i].second = values[i];
  return result;
}

Result<void> check_distribution(const Distribution& distribution, const Place& place) {
  const DistributionRule* rule = find_distribution(distribution.kind);
  if (rule == nullptr)
    return user_error(place, "unknown distribution \"{}\"; there are {}", distribution.kind, kind_names());
  if (distribution.params.size() != rule->params.size())
    return user_error(place, "{} has {} parameters, not {}", rule->name, rule->params.size(),
                      distribution.params.size());
  for (std::size_t i = 0; i < rule->params.size(); ++i) {
    const Param& param = rule->params[i];
    const auto& [name, value] = distribution.params[i];
    if (name != param.name)
      return user_error(place, "{} has the parameter \"{}\" where \"{}\" stands", rule->name, param.name,
                        name);
    if (!(value >= param.min && value <= param.max)) // NaN too
      return user_error(place, "{}: {} = {} must be from {} to {}", rule->name, name, value, param.min,
                        param.max);
    if (param.integer && value != std::floor(value))
      return user_error(place, "{}: {} = {} must be an integer", rule->name, name, value);
    if (param.name == "high" && rule->params[i - 1].name == "low" &&
        value < distribution.params[i - 1].second)
      return user_error(place, "{}: low = {} is larger than high = {}", rule->name,
                        distribution.params[i - 1].second, value);
  }
  return {};
}

std::string to_text(const Distribution& distribution) {
  std::string text = distribution.kind;
  text += '(';
  for (std::size_t i = 0; i < distribution.params.size(); ++i) {
    const auto& [name, value] = distribution.params[i];
    fmt::format_to(std::back_inserter(text), "{}{}={}", i == 0 ? "" : ", ", name, value);
  }
  text += ')';
  return text;
}

Result<Distribution> parse_distribution(std::string_view text, const Place& place) {
  text = trimmed(text);
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || text.back() != ')')
    return user_error(place, "\"{}\" where a distribution such as normal(mean=0, stddev=1) was expected",
                      text);
  const std::string_view kind = trimmed(text.substr(0, open));
  const DistributionRule* rule = find_distribution(kind);
  if (rule == nullptr)
    return user_error(place, "unknown distribution \"{}\"; there are {}", kind, kind_names());

  Distribution result = make_distribution(rule->kind);
  std::string_view rest = trimmed(text.substr(open + 1, text.size() - open - 2));
  std::size_t next = 0; // the first parameter that may still be named
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = trimmed(rest.substr(0, comma));
    const std::size_t equals = item.find('=');
    const std::string_view name = trimmed(item.substr(0, equals));
    while (next < rule->params.size() && rule->params[next].name != name) ++next;
    if (equals == std::string_view::npos || next == rule->params.size()) {
      std::vector<std::string_view> names;
      for (const Param& param : rule->params) names.push_back(param.name);
      return user_error(place, "{}: \"{}\" is out of place; its parameters are ({})", kind, item,
                        fmt::join(names, ", "));
    }
    const std::string_view number = trimmed(item.substr(equals + 1));
    double& value = result.params[next++].second;
    const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (failure != std::errc() || end != number.data() + number.size())
      return user_error(place, "{}: {} = \"{}\" is not a number", kind, name, number);
    if (comma == std::string_view::npos) break;
    rest = trimmed(rest.substr(comma + 1));
    if (rest.empty()) return user_error(place, "{}: a parameter is missing after the last comma", kind);
  }
  ASSAY_TRY_VOID(check_distribution(result, place));
  return result;
}

} // namespace assay
