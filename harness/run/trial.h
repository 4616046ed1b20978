// One case from end to end: inputs, golden, reference, target, then the structure and every gate (method: 2
// to 6). What a trial says of the numbers is not yet a finding: run/confirm.h decides that.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"
#include "harness/device/device.h"
#include "harness/numerics/signature.h"
#include "harness/numerics/tensor.h"
#include "harness/ops/op.h"
#include "harness/run/kernel.h"
#include "harness/run/plan.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace assay {

// One output or gradient beside its golden and its reference (method: sections 3, 4, 6). Errors are absolute.
struct TensorReport {
  std::size_t tensor = 0; // index in OpInfo::tensors
  Pass pass = Pass::forward;
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  bool exact = false; // must be equal, element for element; the gate's numbers are then all 0

  double reference_error = 0, rounding_floor = 0, absolute_floor = 0, target_error = 0, threshold = 0;
  double golden_scale = 0, reference_relative_error = 0;
  bool gate_valid = true;
  double ratio = 0; // target_error / threshold, the worst of the tensor and its lines
  double reference_rms = 0, target_rms = 0;
  double reference_bias_ulp = 0, target_bias_ulp = 0;
  double max_ulp = 0;       // elementwise operators: the largest distance to G
  std::int64_t excused = 0; // elements left out, because the legal formula itself may overflow there
  std::int64_t worst = -1;  // dense index of the element behind `ratio`, or of the first wrong one
  double golden = 0, reference = 0, target = 0; // there
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
  std::vector<Tensor> inputs;    // in OpInfo order, only Role::input and (backward) Role::upstream filled
  std::vector<Evaluated> golden; // one for each entry of `tensors`; empty where the device stopped early
  std::vector<Evaluated> reference;
  std::vector<Tensor> target;
  std::vector<TensorReport> tensors; // the tested outputs of the pass
  std::vector<Violation> violations; // in the order of Kind, at most one a signature
  std::vector<Fault> faults;         // as the device told them, notes included
};

struct TrialOptions {
  std::uint64_t schedule_salt = 0; // added to the case's schedule seed: another order of blocks and warps
};


Result<Trial> run_trial(Kernel& kernel, const Case& test_case, const TrialOptions& options = {});

} // namespace assay
