// When a suspect is a finding (method: section 7).
//
// The test of (c): a right kernel is one more legal evaluation of the formula. Were it exchangeable with the
// K that make up the envelope, its error would be the largest of the K + 1 with probability at most
// 1 / (K + 1) on fresh inputs, and exceeding fudge times the largest is rarer still. So under the null
// hypothesis the number of redraws, of n, whose ratio target_error / threshold' is above 1 is at most
// binomial(n, 1 / (K + 1)). It is a finding when that number is at least the smallest k with
// P(X >= k) <= 1e-6: the false alarm rate a suspect. K counts evaluations that can differ: orders that are
// the same on this shape (a row of one element) are one.
#pragma once

#include "harness/numerics/errors.h"

#include <cstdint>
#include <span>

namespace assay {

inline constexpr double confirmation_false_alarm = 1e-6; // a suspect
inline constexpr int confirmation_redraws = 16;
inline constexpr int confirmation_min_redraws = 8; // with fewer that differ, only the rigorous bound confirms

struct Suspect {
  double fudge = 2.0;
  double target_error = 0;
  double envelope_error = 0; // the largest of any legal evaluation on this very input
  double absolute_floor = 0;
  double golden_bound = 0;
  double rigorous_bound = 0; // at the element of target_error; infinity where none is known
};

double
confirmed_threshold(const Suspect& suspect); // threshold' = fudge * envelope + absolute_floor + golden bound
double severity(const Suspect& suspect);     // target_error / threshold'; 0 where both are 0

enum class Confirmation : std::uint8_t {
  not_confirmed,    // (a) "lucky reference"; or (c) decided against
  needs_redraws,    // between: draw again
  finding_at_once,  // (b) above what the arithmetic can do
  finding_by_share, // (c)
};

// (a), (b), or needs_redraws. Minimizing and replaying stop here: see `confirmed_on_input`.
Confirmation judge_on_input(const Suspect& suspect);

// (a), (b) and (c). ratios: target_error / threshold' of each redraw whose inputs differ from all others.
Confirmation judge_with_redraws(const Suspect& suspect, std::span<const double> ratios,
                                int envelope_instruments);

// (b) looks at every element, not only at that of target_error: a small element far beyond what its own terms
// allow hides behind a large one that is inside. The judged element with the largest |t - g| / (bound +
// absolute_floor + golden bound); -1 where none is above 1. rigorous: one bound an element.
struct BeyondBound {
  std::int64_t element = -1;
  double target_error = 0;
  double rigorous_bound = 0;
};
BeyondBound beyond_rigorous_bound(const Comparands& comparands, std::span<const double> rigorous,
                                  double absolute_floor);

// The smallest k with P(binomial(n, p) >= k) <= false_alarm; n + 1 where none does.
int exceedances_needed(int n, double p, double false_alarm);
double binomial_tail(int n, double p, int k); // P(X >= k)

// The severity that a shrinking step must keep: min(4, half the original's).
double severity_to_keep(double original);

inline constexpr double marginal_severity = 4; // below it a finding is marginal

} // namespace assay
