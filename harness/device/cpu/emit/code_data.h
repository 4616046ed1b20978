// Constant data that emitted code points to; it lives as long as the code.
#pragma once

#include "harness/device/cpu/emit/call_table.h"
#include "harness/device/cpu/emit/mma.h"
#include "harness/device/cpu/runtime/abi.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace assay::cpu {

struct CodeData {
  std::deque<Site> sites;
  std::deque<Access> accesses;
  std::deque<AtomicAccess> atomics;
  std::deque<CopyAccess> copies;
  std::deque<BarrierSite> barriers;
  std::deque<MbarrierAccess> mbarriers;
  std::deque<BitRule> bit_rules;
  std::deque<PointerCall> pointer_calls;
  CallTable callees; // filled where there are pointer_calls
  std::deque<MatrixProduct> products;
  std::deque<std::vector<const Site*>>
      waits; // by function: for each block, where its waiting instruction stands
  const std::uint32_t* compare_enabled = nullptr; // not 0: comparisons call assay_compare
};

} // namespace assay::cpu
