// What the judging program is told of a burst (layout.h), from the host's plan of it.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"
#include "harness/compile/ptx_source.h"
#include "harness/ops/op.h"
#include "harness/run/plan.h"
#include "harness/screen/layout.h"

#include <cstdint>
#include <span>

namespace assay {

// offsets: of each of plan.tensors the bytes from a slot's start to its element 0 (SlotLayout::tensors; of
// absent ones anything). program: judging_source() of this operator, pass and type. User error: the screen is
// not told of so many dims, params, tensors, outputs or elements, or of a rank above 4; the host judges then.
Result<screen::CasePlan> case_plan(const OpInfo& op, const Plan& plan, const Tolerance& tolerance,
                                   std::span<const std::uint64_t> offsets, const PtxSource& program);

// How to launch assay_judge for cases of that plan.
struct JudgeNeeds {
  std::uint32_t threads = 256;     // a block: blockDim = {threads, 1, 1}; no dynamic shared memory. More for
                                   // large cases, of which fewer are in flight
  std::uint64_t scratch_bytes = 0; // of each block, a multiple of 256
  std::uint32_t most_blocks = 1;   // more blocks than these at a time gain nothing, or take too much scratch
};
// threads: 0 chooses; else a multiple of 64, at most screen::most_judge_threads.
JudgeNeeds judge_needs(const screen::CasePlan& plan, std::uint32_t threads = 0);

} // namespace assay
