// The kinds of distributions alone: NVRTC takes this header too.
#pragma once

#include <cstdint>

namespace assay {

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
  beside_ties,      // half way between two floats of `bits` fraction bits and exponents low to high, their
                    // subnormals often; or a unit of the storage type's last place above or below that
  subnormal,        // below the smallest normal of the storage type, its edges often
  largest,          // +- the largest finite of the storage type, or up to 3 steps below it
  specials,         // N(0, stddev) with NaN, +inf and -inf mixed in with probability `share`
  legal,  // for inputs that are no plain reals (indices, masks, codes, scales): any legal value, edges with
          // probability `edges`
  rotary, // cos | sin rows of a rotary cache, base 10000, both halves equal
  rotary_split, // cos | sin rows whose halves differ
};

} // namespace assay
