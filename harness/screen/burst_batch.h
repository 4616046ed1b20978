// The launches by which a burst is filled, run and judged, as one batch for the device (device/batch.h).
#pragma once

#include "harness/device/batch.h"
#include "harness/run/plan.h"
#include "harness/screen/case_plan.h"
#include "harness/screen/slot_layout.h"

#include <memory>
#include <string>
#include <vector>

namespace assay {

struct BurstPrograms {
  std::shared_ptr<Program> fill, judge; // fill_source(), judging_source()
};

struct BurstBatch {
  Batch batch;
  std::vector<std::string> step_names; // "fill", "target softmax<float>", "judge", ...
};

// Result arrays of a burst.
inline constexpr std::size_t memory_results = 0, judge_results = 1;

// One case in so many has a twin, run in the second world.
inline constexpr std::uint32_t twins_one_in = 16;

// Cases of a wave, at most.
struct WaveCases {
  std::uint32_t usual = 1;
  std::uint32_t large = 1; // where the judge takes as many threads as there are
};

// A wave takes at most wave_bytes for slots and scratch (but holds at least one case). Launches with an empty
// grid are left out, as a launcher leaves them out.
BurstBatch burst_batch(const Plan& plan, const SlotLayout& layout, const screen::CasePlan& case_plan,
                       const BurstPrograms& programs, std::uint64_t wave_bytes, const WaveCases& wave_cases);

} // namespace assay
