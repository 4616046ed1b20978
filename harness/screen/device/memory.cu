// What a case's launches did to the memory of its slot; grids as those of fill.cu. assay_sum before them and
// again after them, then assay_check and, over the twins, assay_compare.
#include "harness/screen/device/slot_blocks.h"
#include "harness/screen/fill_layout.h"

namespace assay::memory {

// NH of UMAC (Black et al., CRYPTO 1999) with keys from the place: the difference that one changed word makes
// is its own times its partner's sum with a key of 32 bits, which is 0 for one key; words that moved meet
// others.
__device__ inline std::uint64_t mixed(const uint4& block, std::uint64_t at) {
  const std::uint64_t key = (at / fill::block_bytes + 1) * 0x9E3779B97F4A7C15;
  const auto low = static_cast<std::uint32_t>(key), high = static_cast<std::uint32_t>(key >> 32);
  return std::uint64_t{block.x + low} * (block.y + high) + std::uint64_t{block.z + ~high} * (block.w + ~low);
}

// The block at `at` of [begin, end), and in place of bytes outside `other`'s.
__device__ inline uint4 block_of(const unsigned char* slot, std::uint64_t at, std::uint64_t begin,
                                 std::uint64_t end, std::uint32_t other) {
  if (fill::is_whole(at, begin, end)) return *reinterpret_cast<const uint4*>(slot + at);
  std::uint32_t word[4] = {other, other, other, other};
#pragma unroll
  for (unsigned k = 0; k < fill::block_bytes; ++k)
    if (at + k >= begin && at + k < end) {
      const unsigned shift = k % 4 * 8;
      word[k / 4] = (word[k / 4] & ~(0xffu << shift)) | static_cast<std::uint32_t>(slot[at + k]) << shift;
    }
  return {word[0], word[1], word[2], word[3]};
}

// f(block, its offset) over the region's.
template <class F>
__device__ inline void each_block(const unsigned char* slot, const FillRegion& region, std::uint32_t other,
                                  F&& f) {
  const std::uint64_t begin = region.begin, end = region.end;
  fill::each_block(begin, end, fill::part_of_slot(),
                   [&](std::uint64_t at) { f(block_of(slot, at, begin, end, other), at); });
}

__device__ inline uint4 difference(const uint4& a, const uint4& b) {
  return {a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w};
}
__device__ inline bool any_bit(const uint4& a) { return (a.x | a.y | a.z | a.w) != 0; }

// Whether one of the elements of 2, 4 or 8 bytes is 0.
__device__ inline bool has_zero(const uint4& a, int element_bytes) {
  const auto half = [](std::uint32_t word) { return (word - 0x00010001) & ~word & 0x80008000; };
  if (element_bytes == 2) return (half(a.x) | half(a.y) | half(a.z) | half(a.w)) != 0;
  if (element_bytes == 4) return a.x == 0 || a.y == 0 || a.z == 0 || a.w == 0;
  return (a.x | a.y) == 0 || (a.z | a.w) == 0;
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
    memory::each_block(slot, region, 0,
                       [&](const uint4& block, std::uint64_t at) { sum += memory::mixed(block, at); });
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
    const std::uint32_t word = fill::twice(region.pattern[blockIdx.x < cases ? 0 : 1]);
    const uint4 pattern{word, word, word, word};
    if (region.kind == FillRegion::Kind::band)
      memory::each_block(slot, region, word, [&](const uint4& block, std::uint64_t) {
        if (memory::any_bit(memory::difference(block, pattern))) flags |= memory_flag::band;
      });
    if (region.kind == FillRegion::Kind::output && region.element_bytes > 1)
      memory::each_block(slot, region, ~word, [&](const uint4& block, std::uint64_t) {
        if (memory::has_zero(memory::difference(block, pattern), region.element_bytes))
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
    memory::each_block(one, region, 0, [&](const uint4& block, std::uint64_t at) {
      const uint4 twin = memory::block_of(other, at, region.begin, region.end, 0);
      differs = differs || memory::any_bit(memory::difference(block, twin));
    });
  }
  std::uint32_t flags = differs ? memory_flag::world : 0;
  if (blockIdx.y == 0 && threadIdx.x == 0) {
    const MemoryRecord& twin = records[cases + blockIdx.x];
    flags |= (twin.flags & memory_flag::band) | (twin.input_sum != 0 ? memory_flag::twin_input : 0);
  }
  if (flags != 0) atomicOr(&records[blockIdx.x].flags, flags);
}
