#include "harness/device/cpu/runtime/memory.h"

#include "harness/base/check.h"
#include "harness/device/cpu/runtime/engine.h"
#include "harness/device/cpu/runtime/layout.h"

#include <algorithm>
#include <cstring>

namespace assay::cpu {

Memory::Memory() {
  nothing_.name = "no memory";
  buffers_.assign(first_buffer_slot, &nothing_);
}

Region& Memory::outside_buffers_(std::uint64_t slot) {
  if (slot >= first_heap_slot) {
    const std::uint64_t index = slot - first_heap_slot;
    return index < heap_.size() ? heap_[index].region : nothing_;
  }
  if (slot < first_variable_slot) return nothing_;
  const std::uint64_t index = slot - first_variable_slot;
  return index < variables_.size() ? variables_[index].region : nothing_;
}

namespace {

// Bytes from the first element to the end of the last; an error where the shape makes no sense.
Result<std::size_t> storage_bytes(const BufferSpec& spec, const std::vector<std::int64_t>& strides) {
  if (!spec.strides.empty() && spec.strides.size() != spec.shape.size())
    return user_error({}, "buffer {}: {} strides for {} dimensions", spec.name, spec.strides.size(),
                      spec.shape.size());
  __extension__ using Wide = __int128;
  Wide last = 0, count = 1;
  bool empty = false;
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    if (spec.shape[d] < 0)
      return user_error({}, "buffer {}: dimension {} is {}", spec.name, d, spec.shape[d]);
    if (strides[d] < 0) return user_error({}, "buffer {}: stride {} is {}", spec.name, d, strides[d]);
    if (spec.shape[d] == 0) empty = true;
    last += Wide{std::max<std::int64_t>(spec.shape[d] - 1, 0)} * strides[d];
    count *= std::max<std::int64_t>(spec.shape[d], 1);
    if (last > Wide{1} << 62 || count > Wide{1} << 62) break;
  }
  if (empty) return std::size_t{0};
  const Wide bytes = std::max(last + 1, count) * static_cast<Wide>(size_of(spec.dtype));
  if (bytes > static_cast<Wide>(max_buffer_bytes))
    return user_error({}, "buffer {} needs more than the {} MiB that the CPU device has", spec.name,
                      max_buffer_bytes >> 20);
  return static_cast<std::size_t>(last + 1) * size_of(spec.dtype);
}

// Whether elements overlap (a stride of 0), so that their count says nothing about gaps.
bool overlapping(const Region& region) {
  for (std::size_t d = 0; d < region.shape.size(); ++d)
    if (region.strides[d] == 0 && region.shape[d] > 1) return true;
  return false;
}

} // namespace

Result<BufferId> Memory::allocate(const BufferSpec& spec, std::span<const std::byte> dense,
                                  bool track_undefined) {
  const std::vector<std::int64_t> strides = spec.strides.empty() ? row_major(spec.shape) : spec.strides;
  ASSAY_TRY(const std::size_t bytes, storage_bytes(spec, strides));
  if (buffer_bytes_ + bytes + spec.offset > max_buffer_bytes || spec.offset > max_buffer_bytes)
    return user_error({}, "buffers need more than the {} MiB that the CPU device has",
                      max_buffer_bytes >> 20);
  if (first_buffer_slot + buffer_count_ >= first_variable_slot)
    return user_error({}, "more than {} buffers", first_variable_slot - first_buffer_slot);
  if (buffer_count_ == buffer_pool_.size()) {
    buffer_pool_.push_back(std::make_unique<Region>());
    buffer_storage_.emplace_back();
    buffers_.push_back(buffer_pool_.back().get());
  }
  const std::size_t number = buffer_count_;
  Region& region = *buffer_pool_[number];
  buffers_[first_buffer_slot + number] = &region;
  std::vector<std::byte>& storage = buffer_storage_[number];
  const std::size_t end = spec.offset + bytes;
  if (storage.size() < end) storage.resize(end);
  region.data = storage.data();
  region.begin = static_cast<std::int64_t>(spec.offset);
  region.end = static_cast<std::int64_t>(end);
  region.kind = RegionKind::buffer;
  region.role = spec.role;
  region.read_only = spec.role == BufferRole::input;
  region.name = spec.name;
  region.dtype = spec.dtype;
  region.shape = spec.shape;
  region.strides = strides;
  region.offset = spec.offset;
  region.bytes = bytes;
  region.stored_undefined = false;
  region.tainted.clear();
  region.races = region.read_only ? nullptr : &region.race_shadow;
  region.race_shadow.start();
  ++buffer_count_;
  buffer_bytes_ += end;

  const std::size_t size = size_of(spec.dtype);
  const auto count = static_cast<std::size_t>(element_count(spec.shape));
  ASSAY_CHECK(dense.empty() || dense.size() == count * size, "buffer {} has {} bytes, given {}", spec.name,
              count * size, dense.size());
  const bool full = count * size == bytes && !overlapping(region);
  const bool defined = spec.initialized && full;
  if (!full || dense.empty()) poison(region.data, spec.offset, bytes);
  const bool track = (track_undefined || spec.role == BufferRole::output) && !defined;
  if (track)
    region.undefined_bits.assign(end, true);
  else
    region.undefined_bits.clear();
  region.undefined = track ? region.undefined_bits.words() : nullptr;
  if (dense.empty() && !spec.initialized) return BufferId{static_cast<std::uint32_t>(number)};
  for_runs(region, [&](std::int64_t index, std::size_t offset, std::int64_t length) {
    const std::size_t run = static_cast<std::size_t>(length) * size;
    if (dense.empty())
      std::memset(region.data + offset, 0, run);
    else
      std::memcpy(region.data + offset, dense.data() + static_cast<std::size_t>(index) * size, run);
    if (track && spec.initialized) clear_range(region.undefined, offset, run);
  });
  return BufferId{static_cast<std::uint32_t>(number)};
}

void Memory::release_all() {
  for (std::size_t i = 0; i < buffer_count_; ++i) {
    buffers_[first_buffer_slot + i] = &nothing_;
    Region& region = *buffer_pool_[i];
    region.data = nullptr;
    region.undefined = nullptr;
    region.undefined_bits.give_back();
    region.tainted.give_back();
    region.race_shadow.give_back();
    give_back(buffer_storage_[i]);
  }
  buffer_count_ = 0;
  buffer_bytes_ = 0;
  ++generation_;
  heap_reset();
}

Region& Memory::buffer(BufferId id) {
  ASSAY_CHECK(static_cast<std::size_t>(id) < buffer_count_, "buffer {} does not exist",
              static_cast<std::uint32_t>(id));
  return *buffer_pool_[static_cast<std::size_t>(id)];
}
const Region& Memory::buffer(BufferId id) const { return const_cast<Memory*>(this)->buffer(id); }

void Memory::fill_zero(BufferId id) {
  Region& region = buffer(id);
  for_runs(region, [&](std::int64_t, std::size_t offset, std::int64_t length) {
    const std::size_t run = static_cast<std::size_t>(length) * size_of(region.dtype);
    std::memset(region.data + offset, 0, run);
    if (region.undefined) clear_range(region.undefined, offset, run);
  });
}

void Memory::read(BufferId id, std::span<std::byte> dense) const {
  const Region& region = buffer(id);
  const std::size_t size = size_of(region.dtype);
  ASSAY_CHECK(dense.size() == static_cast<std::size_t>(element_count(region.shape)) * size,
              "{} bytes read of {}", dense.size(), region.name);
  for_runs(region, [&](std::int64_t index, std::size_t offset, std::int64_t length) {
    std::memcpy(dense.data() + static_cast<std::size_t>(index) * size, region.data + offset,
                static_cast<std::size_t>(length) * size);
  });
}

std::vector<std::int64_t> Memory::unwritten(BufferId id, std::size_t limit) const {
  const Region& region = buffer(id);
  std::vector<std::int64_t> found;
  if (!region.undefined || limit == 0) return found;
  const std::size_t size = size_of(region.dtype);
  const std::uint64_t* tainted = region.tainted.empty() ? nullptr : region.tainted.words();
  for_runs(region, [&](std::int64_t index, std::size_t offset, std::int64_t length) {
    if (!any_in_range(region.undefined, offset, static_cast<std::size_t>(length) * size)) return;
    for (std::int64_t i = 0; i < length && found.size() < limit; ++i) {
      const std::size_t at = offset + static_cast<std::size_t>(i) * size;
      if (!any_in_range(region.undefined, at, size)) continue;
      if (tainted && any_in_range(tainted, at, size)) continue;
      found.push_back(index + i);
    }
  });
  return found;
}

std::uint64_t Memory::reserve_variable_slot() {
  ASSAY_CHECK(variables_.size() < first_heap_slot - first_variable_slot, "too many module variables");
  variables_.emplace_back();
  return first_variable_slot + variables_.size() - 1;
}

void Memory::set_variable(const ModuleVariable& declared) {
  const std::uint64_t slot = declared.slot;
  ASSAY_CHECK(slot >= first_variable_slot && slot - first_variable_slot < variables_.size(),
              "slot {} was not reserved", slot);
  Variable& variable = variables_[slot - first_variable_slot];
  if (variable.generation == generation_) return;
  variable.generation = generation_;
  variable.storage = declared.initial;
  variable.pieces.clear();
  for (const SharedVariable& piece : declared.pieces)
    variable.pieces.push_back({piece.name, piece.offset, std::int64_t{piece.offset} + piece.bytes});
  Region& region = variable.region;
  region.data = variable.storage.data();
  region.pieces = variable.pieces.empty() ? nullptr : &variable.pieces;
  region.begin = 0;
  region.end = region.pieces ? 0 : static_cast<std::int64_t>(declared.initial.size());
  region.bytes = declared.initial.size();
  region.kind = declared.constant ? RegionKind::constant : RegionKind::variable;
  region.read_only = declared.constant;
  region.name = declared.name;
  region.races = declared.constant ? nullptr : &region.race_shadow;
  region.undefined = nullptr;
}

std::uint64_t Memory::heap_allocate(std::uint64_t bytes) {
  if (bytes == 0 || bytes > max_heap_bytes - heap_bytes_ || heap_.size() >= max_heap_blocks) return 0;
  HeapBlock& block = heap_.emplace_back();
  block.storage.resize(bytes);
  heap_bytes_ += bytes;
  Region& region = block.region;
  region.data = block.storage.data();
  region.end = static_cast<std::int64_t>(bytes);
  region.bytes = bytes;
  region.kind = RegionKind::heap;
  region.name = "malloc";
  region.races = &region.race_shadow;
  poison(region.data, 0, bytes);
  region.undefined_bits.assign(bytes, true);
  region.undefined = region.undefined_bits.words();
  return generic_address(first_heap_slot + heap_.size() - 1, 0);
}

void Memory::heap_free(std::uint64_t slot) {
  HeapBlock& block = heap_[slot - first_heap_slot];
  Region& region = block.region;
  heap_bytes_ -= region.bytes;
  region.kind = RegionKind::freed;
  region.begin = region.end = 0;
  region.undefined = nullptr;
  region.undefined_bits.clear();
  block.storage = {};
}

void Memory::heap_reset() {
  heap_.clear();
  heap_bytes_ = 0;
}

} // namespace assay::cpu
