// A block's view of one case: where its tensors lie, and the scratch that it shares out.
#pragma once

#include "harness/screen/device/team.h"
#include "harness/screen/layout.h"

namespace assay::screen {

// One tensor of the case.
struct View {
  const unsigned char* data = nullptr;
  unsigned char* reference = nullptr; // tested outputs: what the reference stored, dense
  double* golden = nullptr;           // if it is kept: value, its low word and its magnitude, an element
  std::int32_t shape[max_rank], strides[max_rank];
  std::int32_t count = 0;
  bool tested = false;
  std::uint32_t biased_from = 0; // upper word of the least magnitude whose sign of error counts
};

// Taken from below and from above until they meet; all threads of the block take the same.
struct Scratch {
  unsigned char *low = nullptr, *high = nullptr;
  bool exhausted = false;

  static std::int64_t rounded_up(std::int64_t bytes) { return (bytes + 15) / 16 * 16; }
  std::int64_t left() const { return high - low; }
  unsigned char* take_low(std::int64_t bytes) {
    unsigned char* place = low;
    if (rounded_up(bytes) > left()) return exhausted = true, place;
    low += rounded_up(bytes);
    return place;
  }
  unsigned char* take_high(std::int64_t bytes) {
    if (rounded_up(bytes) > left()) return exhausted = true, low;
    return high -= rounded_up(bytes);
  }
};

} // namespace assay::screen
