// The device's address space: every slot's region. Buffers come and go with a case, module variables stay,
// device malloc has slots of its own.
#pragma once

#include "harness/device/cpu/runtime/region.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace assay::cpu {

struct ModuleVariable;

inline constexpr std::uint64_t first_variable_slot = 4096; // buffers stand below
inline constexpr std::uint64_t first_heap_slot = 1u << 16; // module variables stand below
inline constexpr std::uint64_t end_of_slots = 1u << 23;    // so that a generic address is a positive int64
inline constexpr std::size_t max_buffer_bytes = std::size_t{1} << 30; // all buffers together
inline constexpr std::size_t max_heap_bytes = std::size_t{8} << 20;   // device malloc, as CUDA's default heap
inline constexpr std::size_t max_heap_blocks = 65536;

class Memory {
 public:
  Memory();

  // The region of a slot; an empty one where there is none.
  Region& at(std::uint64_t slot) {
    if (slot < buffers_.size()) return *buffers_[slot];
    return outside_buffers_(slot);
  }

  Result<BufferId> allocate(const BufferSpec& spec, std::span<const std::byte> dense, bool track_undefined);
  void release_all();
  Region& buffer(BufferId id);
  const Region& buffer(BufferId id) const;
  std::size_t buffer_count() const { return buffer_count_; }
  std::size_t buffer_bytes() const { return buffer_bytes_; }
  void fill_zero(BufferId id);
  void read(BufferId id, std::span<std::byte> dense) const;
  std::vector<std::int64_t> unwritten(BufferId id, std::size_t limit) const;

  std::uint64_t reserve_variable_slot();
  // Makes a variable's slot hold its initial bytes, at the first call after release_all.
  void set_variable(const ModuleVariable& variable);

  // Device malloc: a generic address, 0 where the heap is full.
  std::uint64_t heap_allocate(std::uint64_t bytes);
  void heap_free(std::uint64_t slot);
  void heap_reset();

 private:
  Region& outside_buffers_(std::uint64_t slot);

  Region nothing_;
  std::vector<Region*> buffers_; // by slot; those below first_buffer_slot are nothing_
  std::vector<std::unique_ptr<Region>> buffer_pool_;
  std::vector<std::vector<std::byte>> buffer_storage_;
  std::size_t buffer_count_ = 0, buffer_bytes_ = 0;
  struct Variable {
    Region region;
    std::vector<std::byte> storage;
    std::vector<Piece> pieces;
    std::uint64_t generation = 0;
  };
  std::deque<Variable> variables_;
  std::uint64_t generation_ = 1;
  struct HeapBlock {
    Region region;
    std::vector<std::byte> storage;
  };
  std::deque<HeapBlock> heap_;
  std::size_t heap_bytes_ = 0;
};

} // namespace assay::cpu
