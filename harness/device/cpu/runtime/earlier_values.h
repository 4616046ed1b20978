// A warp's lanes run in step here, which no GPU since Volta promises (CUDA C++ Programming Guide,
// "Independent Thread Scheduling": code that takes lockstep for granted must be given __syncwarp). Plain
// accesses of two lanes without order are a race. Volatile and relaxed ones are none: PTX gives them values,
// but not those of lockstep. A load may find what was there before another lane's store that nothing orders
// before it: the lane may have been ahead. So in half of the launches each lane's strong load draws between
// the two, and a kernel that takes lockstep for granted computes wrong numbers, while one that is right with
// any order of its lanes (a flag that a later look will see, the same value by many) stays right; no rule
// need tell them apart.
//
// A lane never goes back: what it stored itself, or has read once, it does not unread. Warp-level
// synchronisation, barriers, fences and acquires begin a new segment, and with it all is forgotten, as it is
// at an atomic; rather too much than too little.
#pragma once

#include "harness/device/cpu/runtime/abi.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::cpu {

struct Region;
struct WarpContext;
struct Checked;

class EarlierValues {
 public:
  void forget() { values_.clear(); }
  bool empty() const { return values_.empty(); }

  // Strong accesses of `bytes` a lane, once the race check has given the warp its segment: before a store is
  // done; and after a load, whose values[v * 32 + lane] of `element_bytes` it may change.
  void store(const WarpContext& context, std::uint32_t lanes, const Checked& at, unsigned bytes);
  void load(WarpContext& context, std::uint32_t lanes, const Checked& at, unsigned bytes,
            unsigned element_bytes, std::byte* values);

 private:
  struct Value {
    const Region* region;
    std::int64_t offset;
    std::uint32_t bytes;
    std::uint32_t barred; // lanes that stored there since, or read what was stored
    std::array<std::byte, 16> before;
  };
  Value* find_(const Region& region, std::int64_t offset, unsigned bytes);

  std::vector<Value> values_; // all of segment_
  std::uint32_t segment_ = 0;
};

} // namespace assay::cpu
