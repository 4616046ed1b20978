// Counters of basic blocks put into PTX: text in, text out. What a block's threads store is one byte each,
// all the same; the copy is run beside the kernel and never judged, so that it cannot change a verdict.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::cuda {

// The variable of the module that holds them, one byte a block: 1 once it has run.
inline constexpr const char* block_counters = "assay_blocks";

struct CountedPtx {
  std::string text;
  std::uint32_t blocks = 0; // 0: text is empty, there was nothing to count
};

// Blocks begin with a function's first instruction, at a label that has a line of its own, and after a
// conditional branch. PTX that is laid out otherwise gets fewer counters, never other code.
CountedPtx with_block_counters(std::string_view ptx);

} // namespace assay::cuda
