// The gate (method: sections 2, 3 and 4): one call judges one floating output of one case.
#pragma once

#include "harness/numerics/errors.h"

#include <cmath>
#include <cstdint>

namespace assay {

struct GateRule {
  double fudge = 2.0;
  double atol = 0.0;
  double reference_limit = 0.1;
  // Number of terms of the longest sum where the kernel may flush subnormals: the absolute floor is at least
  // 2^-126 * flush_terms. 0: not declared (f64 outputs ignore it).
  double flush_terms = 0;
};

// Section 3's other rule, for the line that comes closest to (or furthest past) its threshold:
// threshold_line = fudge * rho * S_line + floor_line + golden_bound_line. S_line: the largest magnitude in
// the line.
struct LineGate {
  std::int64_t line = -1;    // -1: no line has a judged element
  std::int64_t element = -1; // of the line's largest error
  double target_error = 0;
  double magnitude = 0;    // S_line
  double reach = 0;        // rho * S_line, or the line's own reference error where S_line is 0
  double floor = 0;        // max(atol, the line's rounding floor, flush floor)
  double golden_bound = 0; // the largest in the line
  double threshold = 0;
  double ratio = 0;               // target_error / threshold; 0 where both are 0
  double rho = 0;                 // largest reference_error_line / S_line of the tensor
  std::int64_t lines_over = 0;    // lines above their threshold whose own gate is valid
  std::int64_t lines_invalid = 0; // lines whose golden bound is too large (see below): they judge nothing
};

// Over the judged elements. Where the tensor has none (empty, or all special) every number is 0 and it
// passes.
struct Gate {
  double reference_error = 0;                // max|r - g|, or of the envelope
  double rounding_floor = 0;                 // max|G - g|
  double target_error = 0;                   // max|t - g|
  double absolute_floor = 0;                 // max(atol, rounding_floor, flush floor)
  double golden_bound = 0;                   // the largest; part of the threshold
  double threshold = 0;                      // fudge * reference_error + absolute_floor + golden_bound
  double ratio = 0;                          // target_error / threshold; 0 where both are 0
  std::int64_t worst_element = -1;           // of target_error
  std::int64_t worst_reference_element = -1; // of reference_error

  double golden_scale = 0;             // max|g|
  double reference_relative_error = 0; // section 4
  bool conditioned = true;             // reference_relative_error <= reference_limit

  // The golden bound is at most 1 % of the threshold, or of half the output's spacing at the element: a bound
  // that small cannot move G, though the threshold be 0 (one-column softmax: g = 1, r = 1).
  bool golden_exact_enough = true;

  LineGate lines;

  bool valid() const { return conditioned && golden_exact_enough; }
  bool passed() const {
    return target_error <= threshold && std::isfinite(threshold) && lines.lines_over == 0;
  }
  // The larger of the two ratios: what the search climbs, and a suspect where it is above 1.
  double worst_ratio() const { return ratio < lines.ratio ? lines.ratio : ratio; }
};

struct Comparison {
  Structure structure;
  Gate gate;
  // A threshold that is not finite after section 2: our own fault, never a pass. The verdict is then
  // INCONCLUSIVE at best and the caller reports an internal fault. Where it is so because the golden has no
  // bound to offer, the gate is only not valid.
  bool internal_fault = false;

  bool suspect() const { return !structure.passed() || (gate.valid() && !gate.passed()); }
};

// Judges t by r, or by the envelope where comparands.envelope_error is given. Integer outputs: compare_exact
// instead.
Comparison compare(const Comparands& comparands, const GateRule& rule);

} // namespace assay
