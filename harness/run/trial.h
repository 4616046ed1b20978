// One case from end to end: inputs, golden, reference, target, then the structure and every gate (method: 2
// to 6). What a trial says of the numbers is not yet a finding: run/confirm.h decides that.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"
#include "harness/device/device.h"
#include "harness/numerics/bias.h"
#include "harness/numerics/gate.h"
#include "harness/numerics/signature.h"
#include "harness/numerics/statistics.h"
#include "harness/numerics/tensor.h"
#include "harness/ops/op.h"
#include "harness/run/kernel.h"
#include "harness/run/plan.h"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace assay {

// One output or gradient beside its golden and its reference (method: sections 3, 4, 6).
struct TensorReport {
  std::size_t tensor = 0; // index in OpInfo::tensors
  Pass pass = Pass::forward;
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  bool exact = false;    // must be equal, element for element; `comparison` is then empty
  Comparison comparison; // structure and gate
  std::uint64_t ulp_distance =
      0;                       // elementwise operators, forward: the largest beyond what is allowed; else 0
  std::int64_t mismatches = 0; // exact outputs
  std::int64_t worst = -1;     // dense index of the first wrong element, else of the largest error; -1: none
  double golden = 0, reference = 0, target = 0; // there

  bool gate_valid() const { return comparison.gate.valid(); }
  double ratio() const { return comparison.gate.worst_ratio(); } // target_error / threshold, lines included
};

// Mean signed errors and RMS errors, side by side: what a maximum cannot see. Not part of every trial, for
// their cost.
struct TensorStatistics {
  RmsErrors rms;
  MeanError target_bias, reference_bias; // in output ULPs, away from zero
};

// Something wrong that the trial saw. Kinds gate, ulp and bias are suspects until confirmed.
struct Violation {
  Signature signature;
  std::string message;       // one line: what, where, and the numbers
  std::int64_t element = -1; // dense index in the output; -1: not one element
  double ratio =
      std::numeric_limits<double>::infinity(); // target_error / threshold; structural kinds: infinity
  std::size_t report = SIZE_MAX;               // index in Trial::tensors, where it belongs to one
  std::int64_t line = -1; // gate: the line whose own threshold broke; -1: the whole tensor's
};

struct Trial {
  Plan plan;
  std::vector<Tensor> inputs;        // in OpInfo order; outputs and gradients are empty
  std::vector<TensorReport> tensors; // the tested outputs of the pass; empty where the device stopped early
  // One entry for each of `tensors`:
  std::vector<Evaluated> golden, reference;
  std::vector<std::vector<double>> target; // widened
  std::vector<Violation> violations;       // in the order of Kind, at most one a signature
  std::vector<Fault> faults;               // as the device told them, notes included
};

// What the gate compares of tensors[i].
Comparands comparands_of(const Trial& trial, std::size_t i);
// The rule by which tensors[i] is judged: the case's tolerance, and what the formula says of its sums.
GateRule gate_rule(const Trial& trial, std::size_t i, const Tolerance& tolerance, const OpInfo& op);

// Elementwise operators: how many representable values an element may be off.
double ulp_limit(const Tolerance& tolerance, DType dtype, const OpInfo& op);

// Elements of tensors[i] that the rule of representable values leaves out: where the formula itself
// overflows, and, where the kernel may flush subnormals, those off by no more than that.
std::vector<std::uint8_t> ulp_exclusions(const Trial& trial, std::size_t i, const Tolerance& tolerance);

Problem problem_of(const Plan& plan, std::span<const Tensor> inputs);
// What an instrument makes of the trial's inputs: one entry for each of trial.tensors.
std::vector<Evaluated> evaluate_tested(const Op& op, const Trial& trial, const Instrument& instrument);

TensorStatistics statistics_of(const Trial& trial, std::size_t i);

Result<Trial> run_trial(Kernel& kernel, const Case& test_case);

// The same case once more under another schedule: the golden, reference and inputs are those of `first`.
Result<Trial> repeat_trial(Kernel& kernel, const Case& test_case, const Trial& first,
                           std::uint64_t schedule_seed);

} // namespace assay
