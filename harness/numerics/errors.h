// One output of a case as golden, reference and target computed it, and the questions that come before any
// number: are NaN and infinities where they must be, and which elements take part in the numbers (method:
// section 2).
#pragma once

#include "harness/numerics/bulk.h"
#include "harness/numerics/dtype.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay {

// All spans have one entry an element, unless they say otherwise; row-major.
struct Comparands {
  DType dtype = DType::f32;                  // of the output
  std::span<const double> golden = {};       // g
  std::span<const double> golden_low = {};   // second word of g; empty: 0
  std::span<const double> golden_bound = {}; // |g - truth| is at most this; empty: 0
  std::span<const double> magnitude = {};    // sum of magnitudes of the terms behind the element; empty: |g|
  std::span<const std::uint8_t> formula_overflows = {}; // empty: none
  std::span<const std::int64_t> line_starts = {}; // ascending from 0, ends with the count; empty: one line
  std::span<const double> reference = {};         // r, after its store's rounding
  std::span<const double> target = {};            // t, widened
  // Confirmation: |legal - g|, the largest over the envelope, in place of |r - g|; infinity where one was not
  // finite (see widen_envelope). Empty: r counts.
  std::span<const double> envelope_error = {};
};

// g as the numbers take it: a type that saturates (f8e4m3) turns whatever lies beyond its largest value,
// infinities too, into that value, and that is then what the target is measured against. Other types: g
// itself.
double comparable_golden(DType type, double golden);

// What an element is to the gate. An infinity that counts as wrong by r, whose errors may be small by luck,
// is only wrong if it is so by the envelope too: judge such an output again with envelope_error before
// reporting `structure`.
enum class Standing : std::uint8_t {
  judged,        // takes part in the numbers
  same_special,  // NaN or the same infinity in G and t: right
  overflow_edge, // g within the threshold of the value that rounds to infinity: finite or infinite are both
                 // right
  formula_overflow, // the legal formula itself may overflow, or r is not finite where g is, or not the same
                    // NaN or infinity as g (an intermediate that float32 rounds to 0 or to infinity meets an
                    // infinity): nothing follows from t
  wrong,            // NaN or an infinity where it does not belong, or none where one does
};

struct Structure {
  std::int64_t judged = 0;
  std::int64_t same_special = 0;
  std::int64_t overflow_edge = 0;
  std::int64_t formula_overflow = 0;
  std::int64_t wrong = 0;
  std::int64_t first_wrong = -1; // its index; -1 where there is none

  bool passed() const { return wrong == 0; }
};

// The terms of a tensor's threshold, from its judged elements.
struct Allowance {
  double fudge = 2;
  double reference_error = 0;
  double absolute_floor = 0;
};

// The standing of one element (rounded: its G). At the overflow edge the threshold is the tensor's, with this
// element's own reference error (where r is finite), rounding error in an unbounded exponent range, and
// golden bound.
Standing standing(const Comparands& comparands, std::size_t element, double rounded,
                  const Allowance& allowance);

// Operators without rounding and integer outputs: t must equal G by value (NaN equals NaN, +0 equals -0).
// alternative: a second right value an element (a quotient beside a tie), or empty.
struct ExactResult {
  std::int64_t mismatches = 0;
  std::int64_t first = -1;    // -1: none
  std::int64_t misplaced = 0; // of the mismatches: NaN or an infinity on one side, not the same on the other
  std::int64_t first_misplaced = -1;
};
ExactResult compare_exact(std::span<const double> rounded, std::span<const double> alternative,
                          std::span<const double> target);

// envelope[i] = max(envelope[i], |values[i] - g[i]|): one more legal evaluation joins the envelope. A value
// that is not finite where g is, or not the same NaN or infinity where g is none, makes it infinite: a legal
// order overflows there.
void widen_envelope(const Comparands& golden, std::span<const double> values, std::span<double> envelope);

// visit(i, G, low word) for every element that takes part in the numbers: finite in g, G, r and t, and not
// excused.
template <class Visit> void for_each_counted(const Comparands& c, Visit visit) {
  std::vector<double> rounded(c.golden.size());
  round_values(c.dtype, c.golden, c.golden_low, rounded);
  for (std::size_t i = 0; i < rounded.size(); ++i) {
    const bool finite = std::isfinite(c.golden[i]) && std::isfinite(rounded[i]) &&
                        std::isfinite(c.reference[i]) && std::isfinite(c.target[i]);
    if (finite && (c.formula_overflows.empty() || !c.formula_overflows[i]))
      visit(i, rounded[i], c.golden_low.empty() ? 0.0 : c.golden_low[i]);
  }
}

} // namespace assay
