// What a block finds out about a case.
#pragma once

#include "harness/screen/device/bits.h"
#include "harness/screen/device/errors.h"
#include "harness/screen/layout.h"

namespace assay::screen {

// What a block keeps of a case while the golden runs.
template <class J> struct Findings {
  OutputErrors outputs[J::tensor_count];
  std::uint32_t reasons = 0;
  unsigned char* records_end = nullptr; // LineRecords, output_count a line, from the scratch's end downwards
  std::int32_t lines = 0;

  // Whether this thread saw more than numbers well inside their limits.
  __forceinline__ bool is_unclear() const {
    bool unclear = reasons != 0;
#pragma unroll
    for (int k = 0; k < J::tensor_count; ++k)
      J::with_type(J::Formula::tensors[k], [&]<DType type>() {
        if constexpr (is_floating<type>)
          unclear |= outputs[k].scale >= magnitude_word(format_constant<type>().largest);
      });
    return unclear;
  }
  __forceinline__ void forget_golden() {
    reasons &= no_scratch, lines = 0;
#pragma unroll
    for (OutputErrors& output : outputs) output = {};
  }
};

} // namespace assay::screen
