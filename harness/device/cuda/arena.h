// All buffers of a case in one piece of memory, each between guard bands, and what can be told from its bytes
// after a launch. Knows bytes only, no driver: everything here is tested without a GPU.
//
// A kernel runs in two worlds, one arena each, that differ in what stands where nobody wrote: in buffers that
// start poisoned, in gaps between strided elements, in the guard bands and in shared memory. What then
// differs in an output was read from there.
#pragma once

#include "harness/device/cuda/patterns.h"
#include "harness/device/cuda/protocol.h"
#include "harness/device/device.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::cuda {

struct World {                // which of its two patterns each memory holds
  bool second_poison = false; // buffers that start poisoned, and gaps
  bool second_guard = false;  // guard bands
  bool second_shared = false;
  int only = -1; // the one buffer of which second_poison and second_guard hold; the others have the first
};
inline constexpr World first_world{};
inline constexpr World second_world{true, true, true};

class Arena {
 public:
  // User error: a shape that makes no sense, or more than `capacity` bytes.
  explicit Arena(std::size_t capacity) : capacity_(capacity) {}
  Result<BufferId> add(const BufferSpec& spec, std::span<const std::byte> dense);
  void fill_zero(BufferId buffer);
  void clear();

  std::size_t bytes() const { return slots_.empty() ? 0 : slots_.back().end; }
  std::size_t buffers() const { return slots_.size(); }
  const std::string& name(std::size_t buffer) const { return slots_[buffer].spec.name; }
  bool poisoned(std::size_t buffer) const { return !slots_[buffer].defined; }
  std::size_t address(BufferId buffer) const { return slot(buffer).data; } // offset in the arena

  // The data of buffers that fill_zero() cleared.
  std::vector<Clear> clears() const;

  // The arena as it is before the first launch.
  void compose(const World& world, std::byte* out) const;

  // Faults that a world's bytes show: guard bands or gaps overwritten (out_of_bounds), inputs changed.
  std::vector<Fault> faults(const std::byte* bytes, const World& world) const;

  struct Element {
    std::size_t buffer = 0;
    std::int64_t index = 0; // dense
  };
  // The first output element that differs between two worlds; what neither of them wrote does not.
  std::optional<Element> difference(const std::byte* a, const World& world_a, const std::byte* b,
                                    const World& world_b) const;

  void read(BufferId buffer, const std::byte* bytes, std::span<std::byte> dense) const;
  // Elements that hold the poison of both worlds.
  std::vector<std::int64_t> unwritten(BufferId buffer, const std::byte* a, const World& world_a,
                                      const std::byte* b, const World& world_b, std::size_t limit) const;
  // "y[3, 5]".
  std::string element_text(const Element& element) const;

 private:
  struct Slot {
    BufferSpec spec;
    std::vector<std::int64_t> strides;
    std::size_t begin = 0, data = 0, data_end = 0, end = 0; // the bands are [begin, data) and [data_end, end)
    std::int64_t elements = 0;
    bool gaps = false;    // its elements do not fill [data, data_end)
    bool defined = false; // holds `dense` before the first launch
    bool cleared = false; // by fill_zero()
    std::vector<std::byte> dense;
  };
  const Slot& slot(BufferId buffer) const;
  // f(dense index, offset in the arena, elements) of every run of adjacent elements; until f returns false.
  template <class F> static void for_runs(const Slot& slot, F&& f);
  Pattern poison_of(std::size_t buffer, const World& world) const;
  Pattern guard_of(std::size_t buffer, const World& world) const;
  bool holds_poison(std::size_t buffer, const std::byte* bytes, std::size_t offset, const World& world) const;
  std::optional<Fault> overwritten(std::size_t buffer, const std::byte* bytes, const World& world) const;
  std::optional<Fault> changed(std::size_t buffer, const std::byte* bytes) const;

  std::size_t capacity_;
  std::vector<Slot> slots_;
};

} // namespace assay::cuda
