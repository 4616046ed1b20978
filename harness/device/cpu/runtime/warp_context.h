// What the runtime keeps of a running warp, of its block and of the launch. The emitted code sees the first
// part only.
#pragma once

#include "harness/device/cpu/runtime/abi.h"
#include "harness/device/cpu/runtime/asynchronous_copy.h"
#include "harness/device/cpu/runtime/earlier_values.h"
#include "harness/device/cpu/runtime/engine.h"
#include "harness/device/cpu/runtime/fault_log.h"
#include "harness/device/cpu/runtime/fiber.h"
#include "harness/device/cpu/runtime/interleaving.h"
#include "harness/device/cpu/runtime/memory.h"
#include "harness/device/cpu/runtime/partial_values.h"
#include "harness/device/cpu/runtime/random.h"
#include "harness/device/cpu/runtime/segments.h"

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::cpu {

inline constexpr unsigned max_block_warps = 32;
inline constexpr unsigned barrier_count = 16;
inline constexpr std::int64_t quantum_steps = 4096; // basic blocks after which a warp lets others run

struct Launch;
struct Block;

enum class WarpState : std::uint8_t { ready, waiting, finished };

// Where the value came from that a warp last loaded although nobody had written it.
struct UndefinedOrigin {
  const Region* region = nullptr;
  std::int64_t offset = 0;
  Site site{};
};

struct WarpContext {
  Warp warp; // first: emitted code's Warp* is a WarpContext*
  Launch* launch = nullptr;
  Block* block = nullptr;
  Fiber* fiber = nullptr;
  WarpState state = WarpState::ready;
  std::uint64_t steps = 0;       // executed basic blocks up to the last tick
  std::int64_t granted = 0;      // steps_until_tick as it was last set
  std::uint32_t shaped_for[3]{}; // block dimensions for which tid_* are filled in
  UndefinedOrigin origin;
  PartialValues partials;
  Copies copies;
  EarlierValues earlier;

  // Spin detection: looks in a row at one instruction, and at whichever.
  std::uint32_t spin_site = ~0u;
  std::uint32_t spin_count = 0, looks = 0;
  bool spun = false; // the last slice ended because the warp only waits for memory to change

  // The race check: see segments.h.
  std::uint32_t segment = 0;        // of the current accesses; older than the block's floor: a new one is due
  std::uint32_t latest_segment = 0; // the last one begun in this block
  std::uint32_t trusted_segment = 0; // found to be ordered before this warp
  std::uint32_t fenced = 0;          // newest segment before the last fence for more than the block
  std::uint32_t fenced_in_block = 0; // before the last fence of any scope
  std::uint32_t acquired_floor = 0;  // segments began before the last acquire or partial barrier
  std::array<std::uint32_t, max_block_warps>
      known{};                         // newest segment of each warp of the block that came before
  std::vector<std::uint32_t> acquired; // sync objects

  // Barrier that the warp waits at.
  std::uint32_t barrier = 0;
  std::uint32_t barrier_result = 0;
  const BarrierSite* barrier_site = nullptr;

  // Local memory, one linear piece a lane.
  std::vector<std::byte> local_storage;
  Region local;                // begin 0, end: top of the frames
  std::uint32_t local_top = 0; // bytes in use a lane
  std::uint32_t local_stride = 0;
};

inline WarpContext& context_of(Warp* warp) { return *reinterpret_cast<WarpContext*>(warp); }

struct BarrierState {
  std::uint32_t expected = 0; // threads; 0: all of the block
  std::uint32_t arrived = 0;  // threads, by the rule of barrier.cpp
  std::uint32_t popc = 0;
  bool every = true, any = false;
  bool used = false;
  bool reduces = false;
  std::uint32_t waiting = 0;                          // warps, as a mask
  std::array<std::uint32_t, max_block_warps> lanes{}; // arrived lanes of each warp
  const BarrierSite* first_site = nullptr;
  std::array<std::uint32_t, max_block_warps>
      known{}; // partial barriers: segments that those who leave it learn
};

struct Block {
  Launch* launch = nullptr;
  std::uint64_t number = 0; // linear index in the grid
  std::uint32_t warp_count = 0, thread_count = 0;
  std::uint32_t finished = 0; // warps
  std::uint32_t ready_count = 0;
  std::uint32_t idle_slices = 0;                     // slices in a row that ended in a spin
  std::array<std::uint8_t, max_block_warps> ready{}; // warp indices
  std::array<WarpContext*, max_block_warps> warps{};
  std::array<BarrierState, barrier_count> barriers;
  std::uint32_t used_barriers = 0; // mask
  std::uint32_t barrier_floor =
      0; // segments below began before the last barrier of the whole block, or before the block
  std::uint32_t several = 0; // segment that stands for reads by several of its warps
  std::uint32_t acquired_floor = 0;
  bool fenced = false, fenced_in_block = false;
  std::vector<std::uint32_t> acquired;
  std::vector<std::byte> shared_storage;
  Region shared;
};

// One launch. Everything in it is reused by the next.
struct Launch {
  Launch(Memory& device_memory, FiberPool& fiber_pool) : memory(device_memory), fibers(fiber_pool) {}

  Memory& memory;
  FiberPool& fibers;
  FaultLog faults;
  Segments segments;
  Engine::Checks checks;
  CompiledModule* module = nullptr;
  const CompiledEntry* entry = nullptr;
  std::uint32_t grid[3]{}, block[3]{};
  std::uint64_t block_total = 0, blocks_started = 0;
  std::vector<Piece> shared_pieces;
  std::uint32_t shared_window = 0, dynamic_shared = 0, dynamic_shared_bytes = 0;
  std::uint64_t step_budget = 0;
  std::uint64_t steps = 0;
  bool ended = false; // by a fatal fault
  Site early_read{};  // the first of bytes that an asynchronous copy was still to bring; ptx_line 0: none
  ScheduleRandom random{0};
  Interleaving interleaving;
  std::vector<std::byte> parameter_storage;
  Region parameters;
  std::string* print_sink = nullptr;
  std::size_t printed = 0;
  std::uint64_t grid_id = 0;

  bool races_checked() const { return checks.races && segments.active(); }
};

// "thread (5,0,0) of block (7,0,0)"
std::string thread_name(const WarpContext& context, unsigned lane);
std::string block_name(const WarpContext& context);

// Records the fault and ends the launch. The caller's frame is never unwound: it takes over the two texts,
// and the caller holds nothing else that owns memory.
[[noreturn]] void fatal_fault(WarpContext& context, Kind kind, std::string&& buffer, const Site& site,
                              std::string&& message);

// Switches to the scheduler; returns when the warp runs again.
void switch_away(WarpContext& context);

} // namespace assay::cpu
