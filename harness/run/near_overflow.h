// NaN and infinities out of place, where legal evaluations may have them: by results that the output's type
// just holds or just does not, or by arithmetic that leaves its range.
#pragma once

#include "harness/run/trial.h"

#include <span>

namespace assay {

// Whether they are out of place only where |g| is within a factor 4 of the output type's overflow.
bool only_near_overflow(const Trial& trial, std::size_t i);

// Whether the arithmetic might overflow or underflow on the way, meet an infinity, or be off by what
// overflows the output's type: only then can legal evaluations differ in where they have NaN and infinities.
bool has_extremes(const Op& op, const Trial& trial, std::size_t i);

// Whether each of them is an infinity, or lacks one, no further from the edge of overflow than `allowance`
// says, or the rigorous bound of its element: legal arithmetic may then do the same, however many evaluations
// did not. envelope: of trial.tensors[i], an element each; bounds likewise, empty where there is none.
bool within_bound_of_overflow(const Trial& trial, std::size_t i, std::span<const double> envelope,
                              std::span<const double> bounds, const Allowance& allowance);

} // namespace assay
