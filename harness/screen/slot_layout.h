// Where the buffers of one case lie in its slot, and what the GPU is told of them: the same for every case of
// a burst. And how one case fills its inputs.
#pragma once

#include "harness/cases/case.h"
#include "harness/run/plan.h"
#include "harness/screen/fill_layout.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace assay {

struct SlotLayout {
  FillPlan fill;
  std::size_t bytes = 0;              // of a slot, a multiple of 256
  std::vector<std::uint64_t> tensors; // of each of Plan::tensors its first element's place in the slot
  std::vector<std::uint64_t> scratch; // likewise
  std::vector<std::size_t> inputs;    // of each of fill.tensor its index in Plan::tensors
  std::size_t sort_bytes = 0;         // shared memory that sorting a line may take
};

// Nothing: more tensors, dims or elements than the GPU is told of.
std::optional<SlotLayout> slot_layout(const Plan& plan, const Case& test_case);

// Not: a sorted line too long or of f64, which only the host sorts.
bool can_fill(const FillDistribution& distribution, const FillTensor& tensor);

// Nothing: this is filled on the host alone (a distribution that cannot be filled, too many patches or single
// elements).
std::optional<FillInput> fill_input(const TensorInput& input, const FillTensor& tensor);

} // namespace assay
