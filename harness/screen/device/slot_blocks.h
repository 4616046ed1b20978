// A slot's bytes, dealt out to the threads that fill it or look after its memory: one block row (blockIdx.x)
// a slot, blockIdx.y parts of it.
#pragma once

#include <cstdint>

namespace assay::fill {

struct Part {
  std::int64_t first, step; // of this thread, among all threads of the slot
};
__device__ inline Part part_of_slot() {
  return {static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x,
          static_cast<std::int64_t>(gridDim.y) * blockDim.x};
}

// f(offset) of each block of 16 bytes that [begin, end) meets. Slots lie at multiples of 256.
constexpr std::uint64_t block_bytes = 16;
template <class F>
__device__ inline void each_block(std::uint64_t begin, std::uint64_t end, const Part& part, F&& f) {
  for (std::uint64_t at = begin / block_bytes * block_bytes + block_bytes * part.first; at < end;
       at += block_bytes * part.step)
    f(at);
}
__device__ inline bool is_whole(std::uint64_t at, std::uint64_t begin, std::uint64_t end) {
  return at >= begin && at + block_bytes <= end;
}

// Two bytes, anchored at even offsets, as a word has them.
__device__ inline std::uint32_t twice(std::uint16_t pattern) {
  return static_cast<std::uint32_t>(pattern) << 16 | pattern;
}

} // namespace assay::fill
