// mbarrier: arrivals and bytes that a phase still waits for, in a word of shared memory. The word is opaque
// to kernels; here it is, from the lowest bit, 20 bits of pending and 20 of expected arrivals, 23 of bytes
// (as a signed number) and the phase's parity.
#include "harness/device/cpu/runtime/definedness.h"
#include "harness/device/cpu/runtime/layout.h"
#include "harness/device/cpu/runtime/race.h"
#include "harness/device/cpu/runtime/strong.h"

#include <fmt/format.h>

#include <cstring>

namespace assay::cpu {
namespace {

constexpr std::int64_t most_arrivals = (1 << 20) - 1; // PTX ISA, "mbarrier", valid ranges
constexpr std::int64_t most_bytes = (1 << 20) - 1;

struct State {
  std::int64_t pending = 0, expected = 0, bytes = 0;
  bool odd = false;
};

State unpack(std::uint64_t word) {
  constexpr std::uint64_t arrivals = (1u << 20) - 1;
  return {static_cast<std::int64_t>(word & arrivals), static_cast<std::int64_t>(word >> 20 & arrivals),
          static_cast<std::int64_t>(word << 1) >> 41, word >> 63 != 0};
}

std::uint64_t pack(const State& state) {
  return static_cast<std::uint64_t>(state.pending) | static_cast<std::uint64_t>(state.expected) << 20 |
         (static_cast<std::uint64_t>(state.bytes) & 0x7fffff) << 40 |
         static_cast<std::uint64_t>(state.odd) << 63;
}

struct Fault {
  WarpContext& context;
  const MbarrierAccess& access;
  const Region& region;
  std::int64_t offset;
  unsigned lane;

  std::string text(const char* kind, const std::string& what) const {
    return fmt::format("{}: {} the mbarrier at {}, by {}, {}", kind, what, element_name(region, offset),
                       thread_name(context, lane), context.launch->faults.place_text(access.access.site));
  }
  [[noreturn]] void barrier(std::string&& message) const {
    fatal_fault(context, Kind::barrier, "shared", access.access.site, std::move(message));
  }
};

std::string range_text(const Fault& fault, std::int64_t value, const char* of, std::int64_t lowest,
                       std::int64_t highest) {
  return fault.text("barrier", fmt::format("{} {} ({} to {}) for", value, of, lowest, highest));
}
std::string arrivals_text(const Fault& fault, std::int64_t count, std::int64_t pending) {
  return fault.text("barrier", fmt::format("{} arrival{} where the phase waits for {} at", count,
                                           count == 1 ? "" : "s", pending));
}
std::string undefined_text(const Fault& fault) {
  return fault.text("uninitialized", "an operation before mbarrier.init on");
}

std::string outside_shared_text(const Fault& fault) {
  return fault.text("barrier", "an operation outside shared memory on");
}

void complete_phase(State& state) {
  if (state.pending != 0 || state.bytes != 0) return;
  state.pending = state.expected;
  state.odd = !state.odd;
}

void arrive(State& state, const Fault& fault, std::int64_t count) {
  if (count > most_arrivals) fault.barrier(range_text(fault, count, "arrivals", 1, most_arrivals));
  if (count > state.pending) fault.barrier(arrivals_text(fault, count, state.pending));
  state.pending -= count;
  complete_phase(state);
}

void add_bytes(State& state, const Fault& fault, std::int64_t bytes) {
  state.bytes += bytes;
  if (state.bytes > most_bytes || state.bytes < -most_bytes)
    fault.barrier(range_text(fault, state.bytes, "pending bytes", -most_bytes, most_bytes));
}

// What one lane does to the word; false: a wait that is not over.
bool change(State& state, const Fault& fault, const MbarrierAccess& access, std::uint64_t operand) {
  const auto count = static_cast<std::int64_t>(operand & 0xffffffffu);
  switch (access.op) {
  case MbarrierOp::init:
    if (count < 1 || count > most_arrivals)
      fault.barrier(range_text(fault, count, "arrivals", 1, most_arrivals));
    state = {count, count, 0, false};
    break;
  case MbarrierOp::inval:
    break;
  case MbarrierOp::arrive:
    if (access.expects) add_bytes(state, fault, count);
    arrive(state, fault, access.expects ? 1 : count);
    break;
  case MbarrierOp::arrive_drop:
    if (access.expects) add_bytes(state, fault, count);
    state.expected -= access.expects ? 1 : count;
    if (state.expected < 0) fault.barrier(arrivals_text(fault, count, state.pending));
    arrive(state, fault, access.expects ? 1 : count);
    break;
  case MbarrierOp::expect_tx:
    add_bytes(state, fault, count);
    break;
  case MbarrierOp::complete_tx:
    add_bytes(state, fault, -count);
    complete_phase(state);
    break;
  case MbarrierOp::wait_state:
    return unpack(operand).odd != state.odd;
  case MbarrierOp::wait_parity:
    return state.odd != ((operand & 1) != 0);
  }
  return true;
}

bool waits(MbarrierOp op) { return op == MbarrierOp::wait_state || op == MbarrierOp::wait_parity; }

void order(WarpContext& context, const MbarrierAccess& access, const Region& region, std::int64_t offset) {
  context.spin_site = ~0u;
  if (!context.launch->checks.races || access.access.ordering == weak) return;
  const bool reads = waits(access.op);
  context.launch->segments.strong_access(context, region, offset,
                                         static_cast<Ordering>(access.access.ordering), reads, !reads);
  if (reads) context.segment = 0; // what other lanes of this warp did before they arrived came before
}

} // namespace

std::uint32_t assay_mbarrier(Warp* warp, std::uint32_t lanes, const MbarrierAccess* access,
                             const std::uint64_t* addresses, const std::uint64_t* operand,
                             std::uint64_t* state) {
  WarpContext& context = context_of(warp);
  std::uint32_t over = 0;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    std::uint32_t alone = 1u << lane;
    const Direction direction = waits(access->op) ? Direction::load : Direction::atomic;
    const Checked at = check_access<8>(context, alone, access->access, direction, addresses);
    Region& region = *at.region;
    const std::int64_t offset = at.offset_of(lane, 8);
    const Fault fault{context, *access, region, offset, lane};
    if (region.kind != RegionKind::shared) fault.barrier(outside_shared_text(fault));
    if (region.races && context.launch->races_checked()) {
      if (waits(access->op))
        check_load_race<8>(context, alone, access->access, at);
      else
        check_atomic_race<8>(context, alone, access->access, at);
    }
    if (access->op != MbarrierOp::init && region.undefined &&
        any_in_element(region.undefined, static_cast<std::size_t>(offset), 8))
      fatal_fault(context, Kind::uninitialized, "shared", access->access.site, undefined_text(fault));
    std::uint64_t word = 0;
    std::memcpy(&word, region.data + offset, sizeof word);
    if (state) state[lane] = word;
    State now = unpack(word);
    if (!change(now, fault, *access, operand[lane])) {
      count_spin(context, access->access);
      continue;
    }
    over |= alone;
    order(context, *access, region, offset);
    if (waits(access->op)) continue;
    word = pack(now);
    std::memcpy(region.data + offset, &word, sizeof word);
    if (!region.undefined) continue;
    if (access->op == MbarrierOp::inval)
      set_element(region.undefined, static_cast<std::size_t>(offset), 8);
    else
      clear_element(region.undefined, static_cast<std::size_t>(offset), 8);
  }
  return over;
}

} // namespace assay::cpu
