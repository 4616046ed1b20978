#include "harness/device/cpu/runtime/race_shadow.h"

#include "harness/device/cpu/runtime/byte_bits.h"

#include <algorithm>

namespace assay::cpu {
namespace {

void split(std::vector<AccessRecord>& records, std::size_t old_count, std::size_t count, unsigned by) {
  std::vector<AccessRecord> finer(std::max(count, records.size()), 0);
  for (std::size_t i = 0; i < count && (i >> by) < old_count; ++i) finer[i] = records[i >> by];
  records.swap(finer);
}

} // namespace

void RaceShadow::give_back() {
  cpu::give_back(writes);
  if (writes.empty()) std::vector<AccessRecord>().swap(reads); // never fewer than writes
}

void RaceShadow::prepare(std::size_t bytes, unsigned log2_size, std::uint32_t current_generation) {
  if (generation != current_generation) {
    std::ranges::fill(writes, 0);
    std::ranges::fill(reads, 0);
    generation = current_generation;
  }
  const std::size_t count = (bytes >> log2_size) + 1;
  if (shift != unset && shift > log2_size) {
    const std::size_t old_count = (bytes >> shift) + 1;
    split(writes, old_count, count, shift - log2_size);
    split(reads, old_count, count, shift - log2_size);
    shift = log2_size;
  } else if (shift == unset) {
    shift = log2_size;
  }
  const std::size_t needed = (bytes >> shift) + 1;
  if (writes.size() < needed) {
    writes.resize(needed);
    reads.resize(needed);
  }
}

} // namespace assay::cpu
