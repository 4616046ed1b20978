// What the host tells the GPU about filling the slots of a burst, and what it hears of their memory. Host and
// GPU share these plain structs: NVRTC compiles this header.
//
// A slot holds all buffers of one case: [band][buffer][band]...[buffer][band]. Offsets are bytes from its
// start.
#pragma once

#include "harness/inputs/domain_element.h"
#include "harness/inputs/fill_input.h"
#include "harness/inputs/storage_bits.h"

namespace assay {

inline constexpr int fill_rank = 8, fill_tensors = 12, fill_regions = 64;
inline constexpr int most_fill_threads = 256; // a block, whole warps
inline constexpr std::int64_t longest_sorted_line =
    8192; // elements, of at most 4 bytes: 33 KiB of shared memory
constexpr std::int64_t sort_bytes(std::int64_t line_length) { return 4 * (line_length + line_length / 32); }

// An input of every case of the burst.
struct FillTensor {
  std::uint64_t offset = 0; // of its first element
  std::int64_t shape[fill_rank] = {}, strides[fill_rank] = {};
  std::int32_t rank = 0;
  bool dense = true;
  std::int64_t count = 0, line_length = 1, lines = 0; // 0 to 2^31
  StorageRule storage;
  DomainRule domain;
};

// Bytes of a slot that hold one pattern before the launches, or must not change with them.
struct FillRegion {
  enum class Kind : std::uint8_t {
    band,    // between buffers: nobody may write there
    input,   // nobody may write there
    output,  // every element must be written
    scratch, // the kernel's own
    zero,    // starts at 0
  };
  std::uint64_t begin = 0, end = 0;
  std::uint16_t pattern[2] = {0, 0}; // in either world: two bytes, anchored at even offsets
  Kind kind = Kind::band;
  bool gaps = false;              // input: does not fill its region, whose rest holds the pattern
  std::int32_t element_bytes = 0; // output
};

struct FillPlan {
  std::int32_t tensors = 0, regions = 0;
  FillTensor tensor[fill_tensors];
  FillRegion region[fill_regions];
};

// What a case's launches did to its slot.
struct MemoryRecord {
  std::uint64_t input_sum = 0; // 0: no input was changed
  std::uint32_t flags = 0;     // of memory_flag
  std::uint32_t unused = 0;
};
namespace memory_flag {
// world: its twin's outputs differ. twin_input: its twin's inputs changed. A band of its twin's
// counts as its own.
inline constexpr std::uint32_t band = 1, unwritten = 2, world = 4, twin_input = 8;
} // namespace memory_flag

} // namespace assay
