// Every way in which values of an input are drawn: its name, its parameters, and how simple it is. What an
// element of each kind is, bit for bit, stands in inputs/element.h; which domains may use which, here.
#pragma once

#include "harness/base/error.h"

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

// In order from simple to complicated: a kind's place in this list is its complexity.
enum class DistributionKind : std::uint8_t {
  zero,        // every element is +0
  constant,    // every element is `value`
  equal,       // the elements of a line are equal, lines differ: N(0, stddev)
  alternating, // value, -value, value, ... along a line
  one_hot,     // `value` at `place` (0: first of the line, 1: last), 0 elsewhere
  ramp,        // from `low` to `high` in equal steps along a line
  index_coded, // scale * (1 + position mod period): each element tells its place; the period is exact in the
               // type
  powers_of_two,    // +-2^k, k from low to high
  signed_zeros,     // +0 or -0
  all_positive,     // scale * U[0.5, 1.5)
  all_negative,     // -scale * U[0.5, 1.5)
  uniform,          // U[low, high)
  normal,           // N(mean, stddev)
  sparse,           // N(0, stddev) with probability `density`, else 0
  sorted_ascending, // N(0, stddev), sorted along a line
  sorted_descending,
  near_constant,    // value + N(0, noise): variance near zero
  large_offset,     // offset + N(0, stddev)
  one_outlier,      // N(0, stddev), but `value` at `place` of each line
  swamping,         // 1 everywhere, but `value` at `place` of each line
  wide,             // +-2^k * U[1, 2), k from low to high
  extreme_logits,   // magnitude * one of +1, -1, U(-1, 1), and 1 less one unit
  cancelling_pairs, // v, -v, v', -v', ... with N(0, stddev)
  cancelling_sum,   // N(0, stddev), but now and then minus the sum of the line so far
  half_integers,    // k + 1/2, |k| below limit, and +limit in the first place of each line: ties of integer
                    // codes
  ties,             // values or sums of neighbours half way between two of `bits` fraction bits
  subnormal,        // below the smallest normal of the storage type, its edges often
  largest,          // +- the largest finite of the storage type, or up to 3 steps below it
  specials,         // N(0, stddev) with NaN, +inf and -inf mixed in with probability `share`
  legal,  // for inputs that are no plain reals (indices, masks, codes, scales): any legal value, edges with
          // probability `edges`
  rotary, // cos | sin rows of a rotary cache, base 10000, both halves equal
  rotary_split, // cos | sin rows whose halves differ
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
