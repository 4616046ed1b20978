// The order that the race check goes by. What a warp does between two synchronisations is a segment; segments
// are numbered in the order in which they begin, so that "everything up to now" is one number and a barrier
// of the whole block is one store. Access a happens before access b where
//   a's segment is older than the block's last whole barrier, or
//   both are of one warp, in the same lane or in different segments (a warp-level synchronisation came
//   between), or b's warp learnt a's segment through a partial barrier, or through a chain of release and
//   acquire.
// Where this file has to choose it forgets an order error rather than report one that is none.
#pragma once

#include "harness/device/cpu/runtime/abi.h"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace assay::cpu {

struct WarpContext;
struct Block;
struct Region;

inline constexpr std::uint32_t several_warps = 32; // Segment::warp: reads by more than one warp of the block
inline constexpr std::uint64_t several_blocks = ~std::uint64_t{0}; // Segment::block
inline constexpr std::size_t max_segments = std::size_t{1} << 20;  // kept; older ones are forgotten
inline constexpr std::uint32_t max_segment_number = 1u << 24;
inline constexpr std::size_t max_sync_objects = std::size_t{1} << 16;

struct Segment {
  std::uint64_t block = 0;
  std::uint32_t warp = 0;
  Site wrote_at{}; // latest; ptx_line 0: none
  Site read_at{};
};

// What a release passes on.
struct Knowledge {
  std::unordered_map<std::uint64_t, std::uint32_t> released; // (block, warp) -> its segments up to this one
  std::vector<std::uint32_t> parents;                        // objects whose knowledge it includes
};

// A location that was released. After a fence of a block's scope only the block that made it learns: in_block
// is what it knows beyond the rest. Whoever then fences for all passes that on, too.
struct SyncObject {
  Knowledge for_all, in_block;
};

class Segments {
 public:
  void start_launch();
  void forget(); // what the last launch left
  // First segment that belongs to this launch and is not forgotten.
  std::uint32_t floor() const { return floor_; }
  std::uint32_t next() const { return next_; }
  std::uint32_t generation() const { return generation_; }
  Segment& at(std::uint32_t segment) { return segments_[segment - floor_]; }
  // False once a launch has used up the numbers: from then on it is not checked.
  bool active() const { return next_ < max_segment_number - 4096; }
  bool full() const { return segments_.size() >= max_segments; }
  // Between accesses: forgets old segments where there are too many.
  void make_room();
  std::uint32_t add(std::uint64_t block, std::uint32_t warp);

  // Whether `segment` (at least floor(), not the warp's current one) happens before what the warp does now.
  bool ordered(const WarpContext& context, std::uint32_t segment);

  // Records for reads by several warps or blocks; made when needed, new after each synchronisation.
  std::uint32_t several_in_block(Block& block);
  std::uint32_t several_in_grid();

  void fence(WarpContext& context, bool for_all);
  // A strong access to a location: `reads` acquires what was released there, `writes` releases. Only after a
  // fence, or where the access itself has acquire or release semantics.
  void strong_access(WarpContext& context, const Region& region, std::int64_t offset, Ordering ordering,
                     bool reads, bool writes);
  bool synchronises(Ordering ordering) const {
    return fenced_ || ordering == acquire || ordering == release || ordering == acquire_release;
  }

 private:
  // What a warp releases whose last fence ended with segment `own`.
  static void release_(Knowledge& into, std::uint32_t object, const WarpContext& context, std::uint32_t own);

  std::vector<Segment> segments_;
  std::uint32_t floor_ = 1, next_ = 1, generation_ = 1;
  std::uint32_t several_in_grid_ = 0;
  bool fenced_ = false;
  bool gave_up_ = false; // too many released locations: blocks are no longer compared
  std::vector<SyncObject> objects_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_location_;
  struct Visit {
    std::uint32_t object;
    bool in_block; // its knowledge of its block counts, too
  };
  std::vector<Visit> visit_;
  std::vector<std::uint32_t> visited_;
};

} // namespace assay::cpu
