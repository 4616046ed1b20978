// The contract between emitted code (harness/device/cpu/emit) and what it calls (harness/device/cpu/runtime).
//
// Execution shape. A warp is the unit of execution: one call of an entry's compiled function runs the 32
// lanes of one warp in lockstep, every PTX register being a vector of 32 lanes and every predicate a 32-bit
// mask. Control flow that diverges is handled inside the emitted function: each basic block has a mask of
// lanes that wait to execute it, and the lowest block in program order with waiting lanes runs next. Each
// warp runs on a fiber of its own; a runtime call that must wait for other warps (a barrier, a yield in a
// spin loop) switches fibers and returns when it may go on. So emitted code is plain straight code with
// calls, and needs no suspend points of its own.
//
// Lanes. Vectors in memory are arrays of 32 elements in lane order. A mask has bit i set for lane i. Masks
// never name lanes that do not exist. Values in lanes outside the mask are arbitrary and must be left alone
// in results.
//
// Undefinedness. Every register has, beside its value, one 32-bit mask of lanes whose value derives from
// memory that nobody wrote. Emitted code ors these masks through arithmetic; loads produce them, stores carry
// them to memory, and using such a lane as an address, a branch condition, or a barrier or shuffle operand
// calls assay_undefined_used. Storing an undefined value is not a use; the runner looks at what reached the
// outputs.
//
// Addresses. A generic address is (slot << 40) + 2^39 + offset, so that a stray index stays within the slot
// of the buffer it started from and can be named; nothing in it is a host address. Shared-space addresses are
// offsets into the block's shared window; generic ones of that window are slot shared_slot. The same for
// local and param.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::cpu {

inline constexpr unsigned warp_lanes = 32;
inline constexpr unsigned slot_shift = 40;
inline constexpr std::uint64_t slot_origin = std::uint64_t{1} << 39; // offset 0 of a buffer within its slot

// Slots with a fixed meaning; buffers follow.
enum Slot : std::uint64_t {
  null_slot = 0,
  shared_slot = 1,
  local_slot = 2,
  param_slot = 3,
  code_slot = 4, // addresses of functions; no memory
  first_buffer_slot = 16
};

inline constexpr std::uint64_t generic_address(std::uint64_t slot, std::uint64_t offset) {
  return (slot << slot_shift) + slot_origin + offset;
}

enum class Space : std::uint8_t { generic, global, shared, local, constant, param };

// Where an instruction stands; constant data of the compiled module, alive as long as its code.
struct Site {
  std::uint32_t id;          // counts the module's sites from 0
  std::uint32_t ptx_line;    // from 1
  std::uint32_t source_file; // index into the module's .file table plus 1; 0: no line information
  std::uint32_t source_line;
};

// A load or store: `vector` elements of `element_bytes` each, consecutive from each lane's address.
struct Access {
  Site site;
  Space space;
  std::uint8_t element_bytes; // 1, 2, 4, 8, 16
  std::uint8_t vector;        // 1, 2, 4, 8
  std::uint8_t ordering;      // Ordering
  bool of_block = false;      // strong for threads of the same block only: scope .cta, or .cluster
};
enum Ordering : std::uint8_t { weak, relaxed, acquire, release, acquire_release, volatile_access };

// What is to be known of the lanes' addresses, found once for all accesses through one register.
enum class Pattern : std::uint8_t {
  consecutive, // lane i stands at base + i * bytes
  uniform,     // all at base
  octets,      // of all 32 lanes: each eight in a row, from lane 0 on, stand at consecutive places or at one
  scattered,
};
struct AddressShape {
  const std::uint64_t* addresses; // by lane
  std::uint32_t lanes;            // that execute
  std::uint32_t bytes;            // that each accesses
  std::uint32_t address_bits;     // 32 or 64: where adding an offset wraps around
  Pattern pattern;
  std::uint64_t base;
  std::uint64_t low, high; // the smallest and the largest of the lanes' addresses
  std::uint64_t bits;      // all of them or-ed
};

// A copy of words, as many a lane as both have elements.
struct CopyAccess {
  Access source, target;
};

enum class AtomicOp : std::uint8_t { add, exch, cas, and_, or_, xor_, min, max, inc, dec };
enum class ValueType : std::uint8_t {
  b16,
  b32,
  b64,
  b128,
  u32,
  s32,
  u64,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64
};

struct AtomicAccess {
  Access access;
  AtomicOp op;
  ValueType type;
  bool noftz; // f16, bf16
};

enum class BarrierMode : std::uint8_t { sync, arrive, reduce_popc, reduce_and, reduce_or };

struct BarrierSite {
  Site site;
  BarrierMode mode;
  bool aligned; // bar.sync, barrier.sync.aligned: all lanes of the warp together
};

// Operations on an mbarrier, a 64-bit word of shared memory.
enum class MbarrierOp : std::uint8_t {
  init, // operand: arrivals that a phase waits for
  inval,
  arrive,      // operand: count; also those of a copy that is done
  arrive_drop, // operand: count, which later phases no longer expect
  expect_tx,   // operand: bytes
  complete_tx, // operand: bytes
  wait_state,  // operand: what arrive gave
  wait_parity, // operand: 0 or 1
};
struct MbarrierAccess {
  Access access;
  MbarrierOp op;
  bool expects; // arrive.expect_tx: the operand is bytes, the count is 1
};

// How undefined bits of a register pass through an instruction that treats its bits or parts apart.
enum class BitOp : std::uint8_t {
  parts,            // `argument` bytes of the result come from those bytes of every operand
  table,            // bit by bit, of up to three operands: lop3's table is `argument`
  shift_left,       // operand 0 by operand 1, a b32
  shift_right,      // zeros come in
  shift_right_sign, // the sign comes in
  permute,          // prmt's bytes of operands 0 and 1 by selector 2
};
struct BitRule {
  BitOp op;
  std::uint8_t bytes; // of the result, and of the operands but amounts and selectors
  std::uint8_t operands;
  std::uint8_t argument;
};

// Everything about one running warp that emitted code reads or writes in place; the runtime keeps more behind
// it.
struct Warp {
  std::uint32_t tid_x[warp_lanes];
  std::uint32_t tid_y[warp_lanes];
  std::uint32_t tid_z[warp_lanes];
  std::uint32_t ntid[3];
  std::uint32_t ctaid[3];
  std::uint32_t nctaid[3];
  std::uint32_t warp_index;     // %warpid within the block
  std::uint32_t warp_count;     // %nwarpid
  std::uint32_t alive;          // lanes that exist and have not exited; emitted code clears bits on exit
  std::uint32_t dynamic_shared; // shared offset where the dynamic part begins, and its size
  std::uint32_t dynamic_shared_bytes;
  std::uint32_t reserved;
  std::int64_t steps_until_tick; // emitted code subtracts 1 a basic block; at or below 0 it calls assay_tick
  std::uint8_t*
      block_counters; // coverage: one byte a basic block of the module, saturating increment by emitted code
  std::uint64_t grid_id;
};

// A compiled entry: runs one warp to the end of all its lanes.
using WarpFunction = void (*)(Warp* warp);

extern "C" {
// Memory. values: `vector` arrays of 32 elements of `element_bytes`; undefined: `vector` masks. Loads leave
// lanes outside `lanes` untouched in values and clear in undefined.
void assay_load(Warp* warp, std::uint32_t lanes, const Access* access, const std::uint64_t* addresses,
                void* values, std::uint32_t* undefined);
void assay_store(Warp* warp, std::uint32_t lanes, const Access* access, const std::uint64_t* addresses,
                 const void* values, const std::uint32_t* undefined);
// The same for all 32 lanes at consecutive places, lane 0 at `base`.
void assay_load_row(Warp* warp, const Access* access, std::uint64_t base, void* values,
                    std::uint32_t* undefined);
void assay_store_row(Warp* warp, const Access* access, std::uint64_t base, const void* values,
                     const std::uint32_t* undefined);
// The same for several accesses by one register: an access goes to the shape's addresses plus `offset`. The
// addresses stay where they are.
void assay_shape(AddressShape* shape, const std::uint64_t* addresses, std::uint32_t lanes,
                 std::uint32_t bytes, std::uint32_t address_bits);
void assay_load_shaped(Warp* warp, const Access* access, const AddressShape* shape, std::uint64_t offset,
                       void* values, std::uint32_t* undefined);
void assay_store_shaped(Warp* warp, const Access* access, const AddressShape* shape, std::uint64_t offset,
                        const void* values, const std::uint32_t* undefined);
// Lanes in ascending order. b: operand (for cas: what is compared); c: new value for cas; old: previous
// values (null for red). undefined: on entry lanes whose operands are undefined, on return those whose old
// value is.
void assay_atomic(Warp* warp, std::uint32_t lanes, const AtomicAccess* access, const std::uint64_t* addresses,
                  const void* b, const void* c, void* old, std::uint32_t* undefined);
// Also the check of the native stack: a function that may recurse enters a frame, of 0 bytes where it has no
// variables. A frame of `bytes` a lane in local memory; returns its offset. Frames nest; leave with the same
// offset. New frames are undefined.
std::uint32_t assay_enter_local(Warp* warp, std::uint32_t bytes, std::uint32_t alignment);
void assay_leave_local(Warp* warp, std::uint32_t offset);

// cp.async: both places are looked at now, but the bytes arrive when the lanes wait for them; until then the
// target is as if nobody wrote it. bytes: how many of each lane's are read, the rest being zeros; null: all.
void assay_copy(Warp* warp, std::uint32_t lanes, const CopyAccess* access, const std::uint64_t* source,
                const std::uint64_t* target, const std::uint32_t* bytes);
void assay_copies_commit(Warp* warp, std::uint32_t lanes);
// At most `groups` of those that a lane committed last stay under way; ~0u: none, nor what it did not commit.
void assay_copies_wait(Warp* warp, std::uint32_t lanes, std::uint32_t groups);

// Order and synchronisation.
void assay_fence(Warp* warp, std::uint32_t lanes, std::uint32_t scope); // 0 cta, 1 gpu, 2 sys
// `lanes` arrive at barrier `id` with expected thread `count` (0: all of the block); returns when it opens
// (sync, reduce) or at once (arrive). predicate: mask for reductions; the result is the popc, or all ones /
// zero.
std::uint32_t assay_barrier(Warp* warp, std::uint32_t lanes, const BarrierSite* site, std::uint32_t id,
                            std::uint32_t count, std::uint32_t predicate);
// Lanes in ascending order. state: what arrive gives, null where nobody asks. Returns the lanes whose wait is
// over; a wait never blocks.
std::uint32_t assay_mbarrier(Warp* warp, std::uint32_t lanes, const MbarrierAccess* access,
                             const std::uint64_t* addresses, const std::uint64_t* operand,
                             std::uint64_t* state);
// All of `lanes` passed a warp-level synchronisation together (bar.warp.sync, shfl, vote, match, redux).
void assay_warp_synced(Warp* warp, std::uint32_t lanes);
// `lanes` wait at a warp-level or aligned block-level synchronisation for `missing`, which can no longer
// come.
[[noreturn]] void assay_diverged(Warp* warp, std::uint32_t lanes, std::uint32_t missing, const Site* site);
// Lanes execute a warp-level operation whose member mask does not name them: undefined, says the PTX manual.
[[noreturn]] void assay_unnamed(Warp* warp, std::uint32_t lanes, const Site* site);

// Tensor cores. All 32 lanes must execute them: ends the launch where some do not.
void assay_require_warp(Warp* warp, std::uint32_t lanes, const Site* site);
// The matrix of a wmma.load (store 0) or wmma.store (1): every lane's base address and bytes from one row
// or column to the next must be multiples of the access's element_bytes.
void assay_matrix_alignment(Warp* warp, std::uint32_t lanes, const Access* access,
                            const std::uint64_t* addresses, const std::uint64_t* pitch, std::uint32_t store);

// A register of `bytes` (at most 8) that is unpacked: which of `lanes`, undefined as a whole, are undefined
// in bytes [first, first + count). And one that is packed from parts of equal size, with the undefined lanes
// of each.
std::uint32_t assay_part_undefined(Warp* warp, std::uint32_t lanes, const std::uint64_t* values,
                                   std::uint32_t bytes, std::uint32_t first, std::uint32_t count);
void assay_note_partial(Warp* warp, std::uint32_t lanes, const std::uint64_t* values, std::uint32_t bytes,
                        std::uint32_t parts, const std::uint32_t* undefined);
// The lanes, of `lanes`, whose result is undefined in some byte: operands[k] holds 32 values, undefined[k]
// the lanes in which they are undefined, which of them in part is known.
std::uint32_t assay_bits_undefined(Warp* warp, std::uint32_t lanes, const BitRule* rule,
                                   const void* const* operands, const std::uint32_t* undefined,
                                   const void* result);

// Events.
void assay_undefined_used(Warp* warp, std::uint32_t lanes, const Site* site);
void assay_tick(Warp* warp,
                const Site* site); // counts steps, lets other warps run, ends the launch on timeout
[[noreturn]] void assay_trap(Warp* warp, std::uint32_t lanes, const Site* site);
[[noreturn]] void assay_assert_fail(Warp* warp, std::uint32_t lanes, const Site* site,
                                    const std::uint64_t* message, const std::uint64_t* file,
                                    const std::uint32_t* line, const std::uint64_t* function);
void assay_vprintf(Warp* warp, std::uint32_t lanes, const Site* site, const std::uint64_t* format,
                   const std::uint64_t* args, std::uint32_t* result);
void assay_malloc(Warp* warp, std::uint32_t lanes, const std::uint64_t* bytes, std::uint64_t* result);
void assay_free(Warp* warp, std::uint32_t lanes, const Site* site, const std::uint64_t* pointers);
void assay_compare(const Site* site, std::uint64_t a, std::uint64_t b,
                   std::uint32_t bits); // operands of one lane
std::uint64_t assay_clock(Warp* warp);  // deterministic: steps executed
// `lanes` call through `address`, where there is no function that takes and gives what the call does.
[[noreturn]] void assay_bad_call(Warp* warp, std::uint32_t lanes, const Site* site, std::uint64_t address,
                                 const char* function);
}

// A function that emitted code may call by name. The emitter declares it by its C++ signature above or in
// math.h.
struct RuntimeSymbol {
  const char* name;
  void* address;
};

} // namespace assay::cpu
