// The mean signed error in output ULPs, away from zero, and the `bias` kind (method: section 3): a store that
// truncates stays within a factor 2 of the largest error but is half an ULP off on average.
#pragma once

#include "harness/numerics/errors.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay {

// Bias is judged where the output is narrower than the arithmetic: f16, bf16, fp8.
bool bias_applies(DType type);

// Signed errors of one implementation, pooled over cases (seeds) of one output. Only elements count whose g
// is neither representable nor saturated, at least `least` in magnitude, and where g, G, r and t are finite.
struct SignedErrors {
  std::vector<double> golden;
  std::vector<double> error; // in output ULPs, positive away from zero
};
void pool(SignedErrors& into, const Comparands& comparands, std::span<const double> values, double least = 0);

// `least` where the kernel may flush subnormal terms of a sum (GateRule::flush_terms): what they add up to is
// less than 2^-16 of such an element, and no bias of its own.
double least_unflushed(double flush_terms);

struct MeanError {
  std::int64_t count = 0;
  std::int64_t distinct = 0; // distinct values of g
  double mean = 0;
  // Elements with the same g err alike, so they are one observation: with m the mean, n the count, D the
  // distinct values and G_d the elements of value d, se^2 = D/(D-1) * sum_d (sum_{i in G_d} (e_i - m))^2 /
  // n^2 (the cluster-robust variance of a mean; s^2/n where all are distinct). Infinity for D < 2.
  double standard_error = 0;
};
MeanError mean_error(const SignedErrors& errors);

inline constexpr std::int64_t bias_min_elements = 4096;
inline constexpr double bias_limit = 0.1;        // ULP: the target's |mean| above it
inline constexpr double legal_bias_limit = 0.05; // ULP: every legal order's |mean| below it
inline constexpr double bias_sigmas = 6;         // they differ by more, in sqrt(se_target^2 + se_legal^2)

struct BiasResult {
  bool enough = false; // at least bias_min_elements; else nothing follows
  bool biased = false; // a finding of kind `bias`
  MeanError target;
  double largest_legal_mean = 0; // the legal mean that is largest in magnitude
};
// legal: the reference and every other legal order, over the same elements; at least one.
BiasResult check_bias(const MeanError& target, std::span<const MeanError> legal);

} // namespace assay
