// Where the gate is not valid (method: section 5): does the target's error follow what every legal evaluation
// suffers on the same data, or does it have a growth, a bias, a scale or a distribution of its own?
//
// The tests, each with a false alarm of at most 1e-6:
//  - bound: some element lies beyond the rigorous bound of the arithmetic: at once.
//  - growth: the target's slope of log RMS error over log T exceeds the steepest legal one by more than 0.25
//    outside the 99 % interval (numerics/slope.h).
//  - scale and distribution: of RMS, median, 0.9 quantile and maximum of |t - g|, each above fudge times the
//    largest legal one plus the floor in more cases than a binomial with chance 1 / (K + 1) explains, K the
//    number of legal evaluations (numerics/confirmation.h gives the reasoning).
//  - bias: the mean of (t - g) / S, as it is or away from zero, exceeds fudge times the largest legal mean,
//  the
//    floor's own, and Student's t times its standard error over the cases.
#pragma once

#include "harness/numerics/slope.h"
#include "harness/numerics/verdict.h"
#include "harness/run/analysis_samples.h"

#include <string>
#include <vector>

namespace assay {

// What was looked at, before anything is concluded.
struct Evidence {
  bool reduces = false;
  std::string dim;                // whose size is varied; empty: none can be
  std::string no_growth;          // why it is not, where the output has a reduction
  bool growth_needed = false;     // the dim has five legal sizes or more
  std::vector<std::string> names; // of the legal evaluations, the reference first
  std::vector<ErrorSample> at_shape, by_length;
  bool beyond_bound = false; // on the case itself
  double rigorous_bound = 0; // there
  bool explained = false;    // on the case itself: within fudge times the whole envelope
};

// At one length, the largest legal value beside the target's; root of the mean square over the seeds.
struct LengthRow {
  double length = 0, condition = 1;
  double target_rms = 0, legal_rms = 0;
  double target_mean = 0, legal_mean = 0; // signed, in units of S
};

struct Analysis {
  Verdict verdict = Verdict::inconclusive; // never PASS
  std::string why;                         // one line
  double condition = 1;                    // S / |g| at the element of the largest error of the case itself
  double spread = 0;                       // of legal orders there
  int legal = 0;                           // evaluations
  int cases = 0;                           // beside the case itself
  std::string dim;                         // the varied one
  std::vector<LengthRow> lengths;
  Growth target, steepest; // of the RMS error
  std::string steepest_name;
  Growth target_bias; // of |mean signed error| / S over the seeds: slope 0 is bias, about -1/2 noise
};

// The conclusion from the evidence alone.
Analysis conclude(const Evidence& evidence, const Tolerance& tolerance);

// trial: of the case; i: the output whose gate is not valid.
Result<Analysis> analyse(Kernel& kernel, const Case& test_case, const Trial& trial, std::size_t i);

// "strided 256, fused, online": which legal evaluation.
std::string name_of(const Instrument& instrument, const OpInfo& op, Pass pass);

} // namespace assay
