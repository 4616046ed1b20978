// The judging program of one operator, pass and type (device/judge.h): its golden, its reference and the
// gates over both, from the operator's one formula by NVRTC. The headers that it is made of are part of this
// library; a user's own operator is read from its folder.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"
#include "harness/compile/compile.h"

#include <filesystem>
#include <string>

namespace assay {

struct Judging {
  std::string op; // a built-in operator's name, or the path of a user's header: ".../my_op.h"
  Pass pass = Pass::forward;
  DType dtype = DType::f32;        // T
  bool keeps_golden = false;       // scratch also holds each golden value and its magnitude (for tests)
  std::string arch = "compute_90"; // as of CompileRequest
};

// Entry: screen::judge_entry. Errors: environment, no NVRTC; user, the formula does not compile for a GPU, or
// asks for what a GPU lacks (erf and erfc of f64 cases, which the golden evaluates in long double). Either
// way there is no screen, and the host judges.
Result<PtxSource> judging_source(const Judging& judging, const std::filesystem::path& cache_dir,
                                 CompileReport* report = nullptr);

// Whether the formula has functions beside sqrt and rsqrt. If not, the program's reference has the very bits
// of the host's. If so it evaluates them in double and rounds once, where the host's C library may be an ULP
// or two off: a host's reference may then be luckier, and a case that is clean here suspect there.
bool has_functions(const PtxSource& program);

} // namespace assay
