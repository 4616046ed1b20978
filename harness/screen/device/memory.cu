// What a case's launches did to the memory of its slot; grids as those of fill.cu. assay_sum before them and
// again after them, then assay_check and, over the twins, assay_compare.
#include "harness/screen/device/fill_element.h"

namespace assay::memory {

__device__ inline std::uint64_t mixed(std::uint64_t word, std::uint64_t place) {
  std::uint64_t x = (word + 0x9E3779B97F4A7C15) * (2 * place + 1);
  x ^= x >> 32;
  return x * 0xD6E8FEB86659FD93;
}

// f(offset, bytes at once) over [begin, end): words where they fit.
template <class F> __device__ inline void each_word(std::uint64_t begin, std::uint64_t end, F&& f) {
  const std::uint64_t thread = std::uint64_t{blockIdx.y} * blockDim.x + threadIdx.x;
  const std::uint64_t threads = std::uint64_t{gridDim.y} * blockDim.x;
  const std::uint64_t first = (begin + 3) / 4 * 4, last = end / 4 * 4;
  if (first >= last) {
    for (std::uint64_t at = begin + thread; at < end; at += threads) f(at, 1);
    return;
  }
  for (std::uint64_t at = first + 4 * thread; at < last; at += 4 * threads) f(at, 4);
  if (thread != 0) return;
  for (std::uint64_t at = begin; at < first; ++at) f(at, 1);
  for (std::uint64_t at = last; at < end; ++at) f(at, 1);
}

__device__ inline std::uint32_t pattern_at(std::uint16_t pattern, std::uint64_t at, int bytes) {
  if (bytes == 4) return static_cast<std::uint32_t>(pattern) << 16 | pattern;
  return at & 1 ? pattern >> 8 : pattern & 0xff;
}

// Whether an element of 2, 4 or 8 bytes that lies in this word still holds the poison.
__device__ inline bool holds_poison(const unsigned char* slot, std::uint64_t at, int bytes, int element_bytes,
                                    std::uint16_t pattern) {
  const std::uint32_t word = pattern_at(pattern, 0, 4);
  const auto* low = slot + at;
  if (element_bytes == 2 && bytes == 4) {
    const auto both = *reinterpret_cast<const std::uint32_t*>(low) ^ word;
    return (both & 0xffff) == 0 || both >> 16 == 0;
  }
  if (element_bytes == 2) return at % 2 == 0 && *reinterpret_cast<const std::uint16_t*>(low) == pattern;
  if (bytes != 4) return false;
  if (element_bytes == 4) return *reinterpret_cast<const std::uint32_t*>(low) == word;
  return at % 8 == 0 && *reinterpret_cast<const std::uint64_t*>(low) == (std::uint64_t{word} << 32 | word);
}

} // namespace assay::memory

using namespace assay;

// Adds the sum of the inputs' bytes to the record, or takes it away again.
extern "C" __global__ void assay_sum(const FillPlan* plan, const unsigned char* slots,
                                     std::uint64_t slot_bytes, MemoryRecord* records, std::uint32_t after) {
  const unsigned char* slot = slots + blockIdx.x * slot_bytes;
  std::uint64_t sum = 0;
  for (int i = 0; i < plan->regions; ++i) {
    const FillRegion& region = plan->region[i];
    if (region.kind != FillRegion::Kind::input) continue;
    memory::each_word(region.begin, region.end, [&](std::uint64_t at, int bytes) {
      sum += memory::mixed(fill::get(slot + at, bytes), at);
    });
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
  if (threadIdx.x % 32 == 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(&records[blockIdx.x].input_sum),
              after != 0 ? 0 - sum : sum);
}

// Bands that changed, outputs that still hold the poison.
extern "C" __global__ void assay_check(const FillPlan* plan, const unsigned char* slots,
                                       std::uint64_t slot_bytes, std::uint32_t cases, MemoryRecord* records) {
  const unsigned char* slot = slots + blockIdx.x * slot_bytes;
  std::uint32_t flags = 0;
  for (int i = 0; i < plan->regions; ++i) {
    const FillRegion& region = plan->region[i];
    const std::uint16_t pattern = region.pattern[blockIdx.x < cases ? 0 : 1];
    if (region.kind == FillRegion::Kind::band)
      memory::each_word(region.begin, region.end, [&](std::uint64_t at, int bytes) {
        if (fill::get(slot + at, bytes) != memory::pattern_at(pattern, at, bytes)) flags |= memory_flag::band;
      });
    if (region.kind == FillRegion::Kind::output && region.element_bytes > 1)
      memory::each_word(region.begin, region.end, [&](std::uint64_t at, int bytes) {
        if (memory::holds_poison(slot, at, bytes, region.element_bytes, pattern))
          flags |= memory_flag::unwritten;
      });
  }
  if (flags != 0) atomicOr(&records[blockIdx.x].flags, flags);
}

// A block row a twin: whether the outputs of the case and its twin are the same bits, and whether the twin
// wrote where nobody may. (What it left unwritten differs from the case, or was not written there either; and
// its poison are numbers that a right kernel may write.) Single bytes are judged here, too: what neither
// world wrote differs.
extern "C" __global__ void assay_compare(const FillPlan* plan, const unsigned char* slots,
                                         std::uint64_t slot_bytes, std::uint32_t cases,
                                         MemoryRecord* records) {
  const unsigned char* one = slots + blockIdx.x * slot_bytes;
  const unsigned char* other = slots + (std::uint64_t{cases} + blockIdx.x) * slot_bytes;
  bool differs = false;
  for (int i = 0; i < plan->regions; ++i) {
    const FillRegion& region = plan->region[i];
    if (region.kind != FillRegion::Kind::output && region.kind != FillRegion::Kind::zero) continue;
    if (region.element_bytes == 0) continue; // scratch that starts at 0
    memory::each_word(region.begin, region.end, [&](std::uint64_t at, int bytes) {
      differs = differs || fill::get(one + at, bytes) != fill::get(other + at, bytes);
    });
  }
  std::uint32_t flags = differs ? memory_flag::world : 0;
  if (blockIdx.y == 0 && threadIdx.x == 0) {
    const MemoryRecord& twin = records[cases + blockIdx.x];
    flags |= (twin.flags & memory_flag::band) | (twin.input_sum != 0 ? memory_flag::twin_input : 0);
  }
  if (flags != 0) atomicOr(&records[blockIdx.x].flags, flags);
}
