// Every way in which values of an input are drawn: its name, its parameters, and how simple it is. What an
// element of each kind is, bit for bit, stands in inputs/element.h; which domains may use which, here.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/distribution_kind.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// A distribution by name with its parameters, as "normal(mean=0, stddev=1)".
struct Distribution {
  std::string kind = "zero";
  std::vector<std::pair<std::string, double>> params; // in the kind's own order, defaults written out

  bool operator==(const Distribution&) const = default;
};

struct DistributionParam {
  std::string_view name;
  double initial = 0; // the default
  double min = 0;
  double max = 0;
  bool integer = false;
};

// How much of a tensor differs from its base value (cases/order.h).
enum class Spread : std::uint8_t { nothing, one_a_line, everything };

struct DistributionRule {
  DistributionKind kind = DistributionKind::zero;
  std::string_view name;
  std::span<const DistributionParam> params;
  Spread spread = Spread::everything;
  bool seeded = true;      // whether the seed matters
  bool sequential = false; // an element depends on those before it in its line
};

// All of them, in the enumeration's order.
std::span<const DistributionRule> distribution_rules();
const DistributionRule& rule_of(DistributionKind kind);
const DistributionRule* find_distribution(std::string_view name); // null where there is none

// With every parameter at its default, or the values given (as many as the kind has, in its order).
Distribution make_distribution(DistributionKind kind);
Distribution make_distribution(DistributionKind kind, std::span<const double> values);

// Whether kind, parameters (all of them, in order, finite, in range, low <= high) are what the table says:
// user error.
Result<void> check_distribution(const Distribution& distribution, const Place& place);

// "normal(mean=0, stddev=1)", and back: parameters may be left out, but not reordered.
std::string to_text(const Distribution& distribution);
Result<Distribution> parse_distribution(std::string_view text, const Place& place);

} // namespace assay
