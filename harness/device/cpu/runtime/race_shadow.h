// Who wrote a piece of memory last and who read it, one 32-bit record a granule. The granule is the smallest
// access that the launch made there, so that threads that write neighbouring bytes never share a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::cpu {

// A record: segment (24 bits), whether the access was strong, and for its block only (1 each), lane or
// several_lanes (6). 0: none.
using AccessRecord = std::uint32_t;
inline constexpr unsigned record_segment_shift = 8;
inline constexpr AccessRecord record_strong = 64;
inline constexpr AccessRecord record_of_block = 128;
inline constexpr AccessRecord several_lanes = 32;

inline std::uint32_t segment_of(AccessRecord record) { return record >> record_segment_shift; }
inline unsigned lane_of(AccessRecord record) { return record & 63; }
inline AccessRecord first_record(std::uint32_t segment) { return segment << record_segment_shift; }

struct RaceShadow {
  static constexpr unsigned unset = 255;
  unsigned shift = unset;       // log2 of the granule
  std::uint32_t generation = 0; // of the segment numbers in the records
  std::vector<AccessRecord> writes, reads;

  // Whether there are records of a granule of at most 2^log2_size for all of `bytes`.
  bool ready(std::size_t bytes, unsigned log2_size, std::uint32_t current_generation) const {
    return shift <= log2_size && generation == current_generation && bytes >> shift < writes.size();
  }

  // A new owner of the memory; the records are stale by their segments.
  void start() { shift = unset; }
  void give_back();
  // Makes room for `bytes` at a granule of at most 2^log2_size; records split with their granule.
  void prepare(std::size_t bytes, unsigned log2_size, std::uint32_t current_generation);
};

} // namespace assay::cpu
