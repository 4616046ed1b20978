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
// is neither representable nor saturated, at least `least` in magnitude, where g, G, r and t are finite, and
// whose rounding is `decided`.
struct SignedErrors {
  // What is alike where g is rounded alike: |g| scaled by a power of two into [1, 2), and below the smallest
  // normal number |g| itself.
  std::vector<double> rounding;
  std::vector<double> error; // in output ULPs, positive away from zero
};
void pool(SignedErrors& into, const Comparands& comparands, std::span<const double> values, double least = 0,
          std::span<const std::uint8_t> decided = {}); // empty: all are

// Whose rounding is decided: 0 where g comes as close to a tie as float32 roundings of the terms behind it
// reach (2^-24 S). What a right kernel stores there says nothing of its store, and a tensor of few mantissas
// (a constant factor, powers of two) can have most of its elements there. Where the formula rounds to the
// output's type on the way, as it may but need not, that reaches every tie, and nothing is decided.
std::vector<std::uint8_t> decided_roundings(const Comparands& comparands, std::span<const double> rounded);
// Further, 0 where a legal evaluation does not have `rounded`, which is G.
void keep_decided(std::span<const double> rounded, std::span<const double> legal,
                  std::span<std::uint8_t> decided);

// `least` where the kernel may flush subnormal terms of a sum (GateRule::flush_terms): what they add up to is
// less than 2^-16 of such an element, and no bias of its own.
double least_unflushed(double flush_terms);

struct MeanError {
  std::int64_t count = 0;
  std::int64_t distinct = 0; // distinct roundings
  double mean = 0;
  // Elements that are rounded alike err alike, so they are one observation: with m the mean, n the count, D
  // the distinct roundings and G_d the elements of rounding d, se^2 = D/(D-1) * sum_d (sum_{i in G_d} (e_i -
  // m))^2 / n^2 (the cluster-robust variance of a mean; s^2/n where all are distinct). Infinity for D < 2.
  double standard_error = 0;
};
MeanError mean_error(const SignedErrors& errors);

inline constexpr std::int64_t bias_min_elements = 4096;
inline constexpr double bias_limit = 0.1;        // ULP: the target's |mean| above it
inline constexpr double legal_bias_limit = 0.05; // ULP: |mean| of what every legal evaluation has below it
inline constexpr double bias_sigmas = 6;         // they differ by more, in sqrt(se_target^2 + se_legal^2)

struct BiasResult {
  bool enough = false; // at least bias_min_elements; else nothing follows
  bool biased = false; // a finding of kind `bias`
};
// legal: over the same elements.
BiasResult check_bias(const MeanError& target, const MeanError& legal);

} // namespace assay
