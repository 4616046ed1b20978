// Errors of a target beside those of every legal evaluation on the same data: what the analysis of an invalid
// gate looks at (method: section 5).
#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"
#include "harness/ops/op.h"
#include "harness/run/kernel.h"
#include "harness/run/trial.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

// Of |values - g| over one output's counted elements; the means are of (values - g) / S.
struct ErrorSummary {
  double rms = 0, median = 0, upper = 0, largest = 0; // upper: the 0.9 quantile
  double signed_mean = 0;                             // as it is
  double outward_mean = 0;                            // positive away from zero
};

// One case. The legal evaluations stand in the same order in every sample of one analysis.
struct ErrorSample {
  double length = 0;    // of the reduction; 0 where none is varied
  double condition = 1; // the median of S / |g|
  double golden_bound = 0;
  std::int64_t count = 0;     // elements
  ErrorSummary target, floor; // floor: of G
  std::vector<ErrorSummary> legal;
};

// instruments: besides the reference, which is legal[0].
ErrorSample sample_errors(const Op& op, const Trial& trial, std::size_t i,
                          std::span<const Instrument> instruments);

// The largest difference between two legal orders of the formula, on the trial's own input.
double spread_of_orders(const Op& op, const Trial& trial, std::size_t i,
                        std::span<const Instrument> instruments);

// The dim whose size is the length of the longest sum behind an output: the one that the rigorous bound, in
// units of S, grows with most. nullopt: the output has no reduction.
std::optional<std::size_t> reduction_dim(const Kernel& kernel, const Case& test_case, const Trial& trial,
                                         std::size_t i);

// At least five sizes in equal ratios, and the other dims at sizes with which all of them keep within budget;
// empty where the dim cannot take five.
struct Lengths {
  std::vector<std::int64_t> sizes;
  std::vector<std::pair<std::string, std::int64_t>> others; // every dim, the varied one included
};
Lengths growth_lengths(const CaseSpace& space, std::size_t dim);

inline constexpr int growth_seeds = 8;
inline constexpr int shape_redraws = 16;

// The case's own shape under further seeds; only inputs that differ from each other and from the case's own.
Result<std::vector<ErrorSample>> samples_at_shape(Kernel& kernel, const Case& test_case, const Trial& trial,
                                                  std::size_t i, std::span<const Instrument> instruments);
// growth_seeds at each length; of data without a seed, neighbouring lengths instead.
Result<std::vector<ErrorSample>> samples_by_length(Kernel& kernel, const Case& test_case, const Trial& trial,
                                                   std::size_t i, std::size_t dim, const Lengths& lengths,
                                                   std::span<const Instrument> instruments);

} // namespace assay
