// NaN in a legal evaluation. Where it may arise at all (the formula overflows; an intermediate that overflows
// or underflows meets an infinity or a 0), nothing follows from the target, and the envelope is infinite
// there. Anywhere else it can only come from the formula or from the instrument itself, and an envelope that
// it made infinite would excuse every fault: an internal fault.
#pragma once

#include "harness/run/trial.h"

#include <cstdint>
#include <span>

namespace assay {

// The first element of trial.tensors[i] that is NaN in `values` though the golden is finite, does not say
// that the formula overflows, and neither an input nor a term behind the tensor is so large or so small
// (beyond 2^40, below 2^-40 but for 0) that an intermediate could overflow or underflow; -1 where there is
// none.
std::int64_t unearned_nan(const Trial& trial, std::size_t i, std::span<const double> values);

// An internal fault (ASSAY_CHECK) where one of `evaluated`, one entry for each of trial.tensors, has such an
// element.
void expect_earned_nans(const Op& op, const Trial& trial, std::span<const Evaluated> evaluated,
                        const Instrument& instrument);

} // namespace assay
