// The fixed verification of one kernel, and its verdict (method: section 9).
#pragma once

#include "harness/run/analysis.h"
#include "harness/run/contracts.h"
#include "harness/run/judge.h"
#include "harness/run/kernel.h"
#include "harness/run/verify_cases.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace assay {

// One output or gradient of one type over all its cases: how many, and the worst.
struct VerifyRow {
  std::size_t tensor = 0; // index in OpInfo::tensors
  Pass pass = Pass::forward;
  std::string name;
  DType dtype = DType::f32; // of the case
  Verdict verdict = Verdict::inconclusive;
  std::string why; // where it is not PASS: one line
  int cases = 0, gates_valid = 0, lucky = 0, failed = 0;
  std::int64_t judged = 0;    // elements that were compared; where there are none the row is INCONCLUSIVE
  std::int64_t overflows = 0; // elements that the legal formula itself may overflow at: nothing follows there
  int overflow_cases = 0,
      inexact_golden_cases = 0; // cases with such elements; with lines whose golden is too inexact
  Case worst_case;
  TensorReport worst;
  TensorStatistics statistics; // of the worst case
  double condition = 1;        // S / |g| at its element of the largest error
};

// Cases with one output's gate not valid, alike in everything but shape and seed: analysed once, on the case
// that is furthest off.
struct InvalidGate {
  std::size_t row = 0; // in VerifyReport::rows
  int cases = 0;
  Case test_case;
  double ratio = 0; // target_error / threshold there
  Analysis analysis;
};

struct VerifyFinding {
  Finding finding; // the most severe
  int cases = 1;
};

struct VerifyLucky {
  LuckyReference reference; // the most severe
  Case test_case;
  int cases = 1;
};

struct VerifyReport {
  std::string kernel, device;
  Verdict verdict = Verdict::inconclusive;
  std::vector<VerifyRow> rows;
  std::vector<InvalidGate> invalid_gates;
  std::vector<VerifyFinding> findings;
  std::vector<VerifyLucky> lucky;
  std::vector<Contract> contracts; // one that is broken is a FAIL
  // What was tested.
  int cases = 0, repeated = 0; // repeated: under one more schedule, or seven
  std::vector<DType> dtypes;
  std::vector<Pass> passes;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> sizes; // of each dim, ascending
  std::vector<std::string> distributions, params;
  int strided = 0;                      // cases with strides or offsets
  std::vector<std::string> not_covered; // one line each
  double seconds = 0;
};

using VerifyProgress = std::function<void(int done, int planned, const std::string& what)>;

// Errors: those of running a case. Nothing is printed; what is declared (tolerance) is the caller's to show
// before.
Result<VerifyReport> verify(Kernel& kernel, const VerifyProgress& progress = {});
// The same over other cases: each must be legal for the kernel (inputs/space.h: check_case).
Result<VerifyReport> verify(Kernel& kernel, const VerifyCases& cases, const VerifyProgress& progress = {});

// What one case says of one output, before section 5. failed: a finding about it was confirmed; explained:
// its suspects were, or it has none. Never a pass with a threshold that is not finite.
Verdict case_verdict(const TensorReport& report, bool failed, bool explained);

// The worst of what is known; INCONCLUSIVE where nothing was judged at all.
Verdict overall(const VerifyReport& report);

} // namespace assay
