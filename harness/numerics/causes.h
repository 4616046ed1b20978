// The seven suspects of a failure, and how they are ranked by what was found for each (method: section 10).
#pragma once

#include "harness/numerics/errors.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// In the order in which the method asks for them: equal scores are ranked so.
enum class Cause : std::uint8_t {
  indexing,             // indices and masks
  accumulation_type,    // sums kept in a type narrower than the arithmetic's
  premature_cast,       // another intermediate kept so
  reduction_order,      // an order of summing that no legal evaluation has, or that changes from run to run
  numerical_stability,  // the maximum is not subtracted, one-pass variance, eps, an intermediate that
                        // overflows
  approximate_function, // a function further off than CUDA's documentation allows
  backward_formula,     // forward is right, and a gradient has a wrong factor or lacks a term
};
inline constexpr int cause_count = 7;
std::string_view name_of(Cause cause); // "indexing and masks", "accumulation type", ...

// What one test said of one suspect. score: 0 cleared, or nothing said; 1 certain.
struct CauseEvidence {
  Cause cause = Cause::indexing;
  double score = 0;
  std::string evidence; // one line: what was seen
};

// Below this a suspect is not named: "none fits" is then the answer.
inline constexpr double least_score = 0.4;

// One entry a cause, its strongest evidence (of equal ones the first): those worth naming, the likeliest
// first.
std::vector<CauseEvidence> ranked(std::span<const CauseEvidence> evidence);
// Likewise one entry a cause that is not among them but that some test spoke of: cleared.
std::vector<CauseEvidence> cleared(std::span<const CauseEvidence> evidence);

// How well the values of a suspect account for a target. Telling are the elements that are further off than
// the output's spacing and 16 roundings of size S (Comparands::magnitude), which another order need not
// explain, and those with NaN or an infinity where the golden has none. NaN and infinities count by place,
// numbers by their distances in units of S.
struct Likeness {
  std::int64_t telling = 0;
  std::int64_t same = 0;      // of these: the suspect has the target's very value (NaN equals NaN)
  std::int64_t misplaced = 0; // elements, telling or not, where one of the two is not finite and the other is
  double target_square = 0;   // sum of ((t - g) / S)^2 over elements finite in all
  double rest_square = 0;     // of ((t - s) / S)^2
  double suspect_square = 0;  // of ((s - g) / S)^2
  std::int64_t foretold = 0;  // elements, where the target is right, at which the suspect is telling
  std::int64_t foretold_of = 0; // elements where the target is right

  void add(const Likeness& other);
  // The share of the target's error that the suspect accounts for, 0 to 1. Few telling elements lower it,
  // because they may agree by chance (one says nothing), and so does what the suspect foretells where the
  // target is right.
  double share() const;
  // RMS error of the suspect over that of the target.
  double size_ratio() const;
};
Likeness likeness(const Comparands& comparands, std::span<const double> suspect);

} // namespace assay
