// The envelope: the largest error, on one very input, over every legal way to evaluate the formula (method:
// section 7). Instruments are taken one at a time, those likeliest to explain a suspect first, because most
// suspects are explained by the first few.
#pragma once

#include "harness/cases/manifest.h"
#include "harness/ops/op.h"
#include "harness/run/plan.h"
#include "harness/run/trial.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay {

inline constexpr int envelope_noise_draws = 8;
inline constexpr int envelope_sign_draws = 4;

// Every instrument beyond the reference: 8 stochastic roundings, 4 at least by each algorithm; functions all
// up, all down and with 4 draws of signs, by each algorithm; products of three factors in each of their
// orders, quotients by way of the reciprocal, and both, by each algorithm; orders (sequential, pairwise,
// blocked by each tile width, strided by each number of threads, and sequential ones of permuted terms) with
// and without fused multiply-add, by each algorithm. Tile widths are the manifest's `near` sizes, thread
// counts the launches' block sizes, a warp's, and the tile widths. Deterministic in its arguments. Operators
// without a reduction have one order.
std::vector<Instrument> envelope_instruments(const OpInfo& op, const Manifest& manifest, const Plan& plan,
                                             Approximations approximate);

// 8 stochastic roundings, 2 at least by each algorithm, that move exact results, too: what a row of equal
// elements, say, makes exact in every evaluation above other legal forms round, and they are not to be
// accused of it. They are nobody's likely errors, so that neither a bias nor a growth of errors is measured
// by them. None where outputs are judged by their distance in representable values.
std::vector<Instrument> moving_instruments(const OpInfo& op, const Manifest& manifest, const Plan& plan);

class Envelope {
 public:
  // Starts from the reference. The trial must outlive it.
  Envelope(const Op& op, const Trial& trial, std::vector<Instrument> instruments);

  // Takes the next instrument; false where none is left. NaN that no legal evaluation can have is an internal
  // fault (earned_nan.h).
  bool widen();
  bool complete() const { return next_ == instruments_.size(); }
  // Legal evaluations that make it up so far, the reference included.
  int evaluations() const { return static_cast<int>(next_) + 1; }

  // Of trial.tensors[i]: max |legal - g| an element; for elementwise outputs also the largest distance to G.
  std::span<const double> error(std::size_t i) const { return errors_[i]; }
  std::span<const std::uint64_t> distance(std::size_t i) const { return distances_[i]; }

 private:
  void take(std::span<const Evaluated> evaluated);

  const Op* op_;
  const Trial* trial_;
  std::vector<Instrument> instruments_;
  std::size_t next_ = 0;
  std::vector<std::vector<double>> errors_;
  std::vector<std::vector<double>> rounded_; // G, elementwise outputs only
  std::vector<std::vector<std::uint64_t>> distances_;
};

// The rigorous bound on |t - g| an element, for each of trial.tensors: the largest over the legal algorithms,
// and half a last place of an output narrower than the arithmetic, whose store rounds; an empty entry where
// the formula gives none.
std::vector<std::vector<double>> rigorous_bounds(const Op& op, const Trial& trial,
                                                 Approximations approximate);

} // namespace assay
