// NaN in a legal evaluation. Where it may arise at all (the formula overflows; an intermediate that overflows
// or underflows meets an infinity or a 0), nothing follows from the target, and the envelope is infinite
// there. Anywhere else it can only come from the formula or from the instrument itself, and an envelope that
// it made infinite would excuse every fault: an internal fault.
#pragma once

#include "harness/run/trial.h"

#include <cstdint>
#include <span>

namespace assay {

// Whether the arithmetic might overflow or underflow on the way: an input or a floating param lies beyond
// `reach` or below 1 / reach. An input may be 0; a param of 0, or an eps of 2^-120, makes an rstd whose cube
// no float holds.
bool has_extreme_inputs(const Op& op, const Trial& trial, double reach);

// The first element of trial.tensors[i] that is NaN in `values` though the golden is finite, does not say
// that the formula overflows, with neither extreme inputs (reach: 2^40) nor such a term behind the tensor; -1
// where there is none.
std::int64_t unearned_nan(const Op& op, const Trial& trial, std::size_t i, std::span<const double> values);

// An internal fault (ASSAY_CHECK) where one of `evaluated`, one entry for each of trial.tensors, has such an
// element.
void expect_earned_nans(const Op& op, const Trial& trial, std::span<const Evaluated> evaluated,
                        const Instrument& instrument);

} // namespace assay
