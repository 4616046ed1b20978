#include "harness/device/cuda/arena.h"

#include "harness/base/check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace assay::cuda {

namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t smallest_band = 4096, largest_band = std::size_t{16} << 10;

std::size_t round_up(std::size_t n) { return (n + alignment - 1) / alignment * alignment; }

bool is_meant(const World& world, std::size_t buffer) {
  return world.only < 0 || static_cast<std::size_t>(world.only) == buffer;
}

// A kernel that runs off by a row of a small buffer is still inside the band.
std::size_t band_of(std::size_t data_bytes) {
  return round_up(std::clamp(data_bytes, smallest_band, largest_band));
}

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<std::int64_t>(shape[d], 1);
  }
  return strides;
}

struct Extent {
  std::int64_t elements = 1;
  std::size_t bytes = 0; // from the first element to the end of the last
};

Result<Extent> extent_of(const BufferSpec& spec, const std::vector<std::int64_t>& strides,
                         std::size_t capacity) {
  if (strides.size() != spec.shape.size())
    return user_error({}, "buffer {}: {} strides for {} dimensions", spec.name, strides.size(),
                      spec.shape.size());
  __extension__ using Wide = __int128;
  Wide last = 0, count = 1;
  bool empty = false;
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    if (spec.shape[d] < 0)
      return user_error({}, "buffer {}: dimension {} is {}", spec.name, d, spec.shape[d]);
    if (strides[d] < 0) return user_error({}, "buffer {}: stride {} is {}", spec.name, d, strides[d]);
    empty = empty || spec.shape[d] == 0;
    last += Wide{std::max<std::int64_t>(spec.shape[d] - 1, 0)} * strides[d];
    count *= std::max<std::int64_t>(spec.shape[d], 1);
    if (last > Wide{1} << 60 || count > Wide{1} << 60) break;
  }
  if (empty) return Extent{0, 0};
  if (std::max(last + 1, count) * static_cast<Wide>(size_of(spec.dtype)) > static_cast<Wide>(capacity))
    return user_error({}, "buffer {} needs more than {} MiB", spec.name, capacity >> 20);
  return Extent{static_cast<std::int64_t>(count), static_cast<std::size_t>(last + 1) * size_of(spec.dtype)};
}

} // namespace

Result<BufferId> Arena::add(const BufferSpec& spec, std::span<const std::byte> dense) {
  Slot slot;
  slot.spec = spec;
  slot.strides = spec.strides.empty() ? row_major(spec.shape) : spec.strides;
  ASSAY_TRY(const Extent extent, extent_of(spec, slot.strides, capacity_));
  const std::size_t band = band_of(extent.bytes);
  slot.begin = bytes();
  slot.data = round_up(slot.begin + band) + spec.offset;
  slot.data_end = slot.data + extent.bytes;
  slot.end = round_up(slot.data_end + band);
  if (spec.offset > capacity_ || slot.end > capacity_)
    return user_error({}, "buffers need more than {} MiB", capacity_ >> 20);
  slot.elements = extent.elements;
  slot.gaps = static_cast<std::size_t>(extent.elements) * size_of(spec.dtype) != extent.bytes;
  slot.defined = spec.initialized;
  const std::size_t dense_bytes = static_cast<std::size_t>(extent.elements) * size_of(spec.dtype);
  ASSAY_CHECK(dense.empty() || dense.size() == dense_bytes, "buffer {} has {} bytes, given {}", spec.name,
              dense_bytes, dense.size());
  if (!dense.empty()) slot.defined = true;
  if (slot.defined) slot.dense.assign(dense_bytes, std::byte{0});
  std::ranges::copy(dense, slot.dense.begin());
  slots_.push_back(std::move(slot));
  return BufferId{static_cast<std::uint32_t>(slots_.size() - 1)};
}

void Arena::fill_zero(BufferId buffer) {
  Slot& slot = slots_[static_cast<std::size_t>(buffer)];
  slot.defined = slot.cleared = true;
  slot.dense.assign(static_cast<std::size_t>(slot.elements) * size_of(slot.spec.dtype), std::byte{0});
}

std::vector<Clear> Arena::clears() const {
  std::vector<Clear> all;
  for (const Slot& slot : slots_)
    if (slot.cleared && slot.data_end > slot.data) all.push_back({slot.data, slot.data_end - slot.data});
  return all;
}

void Arena::clear() { slots_.clear(); }

const Arena::Slot& Arena::slot(BufferId buffer) const {
  ASSAY_CHECK(static_cast<std::size_t>(buffer) < slots_.size(), "buffer {} does not exist",
              static_cast<std::uint32_t>(buffer));
  return slots_[static_cast<std::size_t>(buffer)];
}

template <class F> void Arena::for_runs(const Slot& slot, F&& f) {
  if (slot.elements == 0) return;
  if (!slot.gaps) {
    bool dense = true; // no gaps, but perhaps in another order: strides may overlap or be permuted
    const std::vector<std::int64_t> straight = row_major(slot.spec.shape);
    for (std::size_t d = 0; d < straight.size(); ++d)
      dense = dense && (slot.spec.shape[d] == 1 || straight[d] == slot.strides[d]);
    if (dense) {
      f(std::int64_t{0}, slot.data, slot.elements);
      return;
    }
  }
  const std::size_t size = size_of(slot.spec.dtype), rank = slot.spec.shape.size();
  const bool rows = slot.strides.back() == 1;
  const std::int64_t run = rows ? slot.spec.shape.back() : 1;
  std::vector<std::int64_t> at(rank, 0);
  for (std::int64_t index = 0; index < slot.elements; index += run) {
    std::int64_t offset = 0, rest = index;
    for (std::size_t d = rank; d-- > 0;) {
      offset += rest % slot.spec.shape[d] * slot.strides[d];
      rest /= slot.spec.shape[d];
    }
    if (!f(index, slot.data + static_cast<std::size_t>(offset) * size, run)) return;
  }
}

Pattern Arena::poison_of(std::size_t buffer, const World& world) const {
  const PatternPair& pair = slots_[buffer].spec.role == BufferRole::output ? output_poison : scratch_poison;
  return pair.of(world.second_poison && is_meant(world, buffer));
}

Pattern Arena::guard_of(std::size_t buffer, const World& world) const {
  return guard_pattern.of(world.second_guard && is_meant(world, buffer));
}

void Arena::compose(const World& world, std::byte* out) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    fill_pattern(out, slot.begin, slot.data, guard_of(i, world));
    fill_pattern(out, slot.data_end, slot.end, guard_of(i, world));
    if (!slot.defined || slot.gaps) fill_pattern(out, slot.data, slot.data_end, poison_of(i, world));
    if (!slot.defined) continue;
    const std::size_t size = size_of(slot.spec.dtype);
    for_runs(slot, [&](std::int64_t index, std::size_t offset, std::int64_t length) {
      std::memcpy(out + offset, slot.dense.data() + static_cast<std::size_t>(index) * size,
                  static_cast<std::size_t>(length) * size);
      return true;
    });
  }
}

void Arena::read(BufferId buffer, const std::byte* bytes, std::span<std::byte> dense) const {
  const Slot& from = slot(buffer);
  const std::size_t size = size_of(from.spec.dtype);
  ASSAY_CHECK(dense.size() == static_cast<std::size_t>(from.elements) * size, "{} bytes read of {}",
              dense.size(), from.spec.name);
  for_runs(from, [&](std::int64_t index, std::size_t offset, std::int64_t length) {
    std::memcpy(dense.data() + static_cast<std::size_t>(index) * size, bytes + offset,
                static_cast<std::size_t>(length) * size);
    return true;
  });
}

std::optional<Fault> Arena::overwritten(std::size_t buffer, const std::byte* bytes,
                                        const World& world) const {
  const Slot& slot = slots_[buffer];
  const Pattern guard = guard_of(buffer, world);
  Fault fault{Kind::out_of_bounds, slot.spec.name, {}, {}, false};
  if (const std::size_t at = first_mismatch(bytes, slot.data_end, slot.end, guard); at != no_mismatch) {
    fault.message =
        fmt::format("{} bytes behind the end of {} were written, the first {} bytes behind it",
                    count_mismatches(bytes, at, slot.end, guard), slot.spec.name, at - slot.data_end);
    return fault;
  }
  if (const std::size_t at = first_mismatch(bytes, slot.begin, slot.data, guard); at != no_mismatch) {
    fault.message =
        fmt::format("{} bytes before the start of {} were written, the first {} bytes before it",
                    count_mismatches(bytes, at, slot.data, guard), slot.spec.name, slot.data - at);
    return fault;
  }
  if (!slot.gaps) return std::nullopt;
  std::vector<std::byte> expected(slot.data_end);
  const std::size_t size = size_of(slot.spec.dtype);
  fill_pattern(expected.data(), slot.data, slot.data_end, poison_of(buffer, world));
  for_runs(slot, [&](std::int64_t, std::size_t offset, std::int64_t length) {
    std::memcpy(expected.data() + offset, bytes + offset, static_cast<std::size_t>(length) * size);
    return true;
  });
  for (std::size_t at = slot.data; at < slot.data_end; ++at)
    if (expected[at] != bytes[at]) {
      fault.message =
          fmt::format("bytes between the elements of {} were written, the first {} bytes from its start",
                      slot.spec.name, at - slot.data);
      return fault;
    }
  return std::nullopt;
}

std::optional<Fault> Arena::changed(std::size_t buffer, const std::byte* bytes) const {
  const Slot& slot = slots_[buffer];
  if (slot.spec.role != BufferRole::input) return std::nullopt;
  const std::size_t size = size_of(slot.spec.dtype);
  std::optional<Element> first;
  for_runs(slot, [&](std::int64_t index, std::size_t offset, std::int64_t length) {
    const std::byte* was = slot.dense.data() + static_cast<std::size_t>(index) * size;
    if (std::memcmp(was, bytes + offset, static_cast<std::size_t>(length) * size) == 0) return true;
    for (std::int64_t i = 0; i < length && !first; ++i)
      if (std::memcmp(was + static_cast<std::size_t>(i) * size,
                      bytes + offset + static_cast<std::size_t>(i) * size, size) != 0)
        first = Element{buffer, index + i};
    return false;
  });
  if (!first) return std::nullopt;
  return Fault{Kind::input_modified,
               slot.spec.name,
               {},
               fmt::format("{}, an input, was changed", element_text(*first)),
               false};
}

std::vector<Fault> Arena::faults(const std::byte* bytes, const World& world) const {
  std::vector<Fault> found;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (auto fault = overwritten(i, bytes, world)) found.push_back(*std::move(fault));
    if (auto fault = changed(i, bytes)) found.push_back(*std::move(fault));
  }
  return found;
}

bool Arena::holds_poison(std::size_t buffer, const std::byte* bytes, std::size_t offset,
                         const World& world) const {
  const Slot& slot = slots_[buffer];
  return !slot.defined &&
         count_mismatches(bytes, offset, offset + size_of(slot.spec.dtype), poison_of(buffer, world)) == 0;
}

std::optional<Arena::Element> Arena::difference(const std::byte* a, const World& world_a, const std::byte* b,
                                                const World& world_b) const {
  std::optional<Element> first;
  for (std::size_t k = 0; k < slots_.size() && !first; ++k) {
    const Slot& slot = slots_[k];
    if (slot.spec.role != BufferRole::output) continue;
    const std::size_t size = size_of(slot.spec.dtype);
    for_runs(slot, [&](std::int64_t index, std::size_t offset, std::int64_t length) {
      if (std::memcmp(a + offset, b + offset, static_cast<std::size_t>(length) * size) == 0) return true;
      for (std::int64_t i = 0; i < length; ++i) {
        const std::size_t at = offset + static_cast<std::size_t>(i) * size;
        if (std::memcmp(a + at, b + at, size) == 0) continue;
        if (holds_poison(k, a, at, world_a) && holds_poison(k, b, at, world_b)) continue;
        first = Element{k, index + i};
        return false;
      }
      return true;
    });
  }
  return first;
}

std::vector<std::int64_t> Arena::unwritten(BufferId buffer, const std::byte* a, const World& world_a,
                                           const std::byte* b, const World& world_b,
                                           std::size_t limit) const {
  std::vector<std::int64_t> found;
  const Slot& of = slot(buffer);
  const auto k = static_cast<std::size_t>(buffer);
  if (of.defined || limit == 0) return found;
  const std::size_t size = size_of(of.spec.dtype);
  for_runs(of, [&](std::int64_t index, std::size_t offset, std::int64_t length) {
    for (std::int64_t i = 0; i < length && found.size() < limit; ++i) {
      const std::size_t at = offset + static_cast<std::size_t>(i) * size;
      if (holds_poison(k, a, at, world_a) && holds_poison(k, b, at, world_b)) found.push_back(index + i);
    }
    return found.size() < limit;
  });
  return found;
}

std::string Arena::element_text(const Element& element) const {
  const Slot& slot = slots_[element.buffer];
  std::vector<std::int64_t> at(slot.spec.shape.size());
  std::int64_t rest = element.index;
  for (std::size_t d = at.size(); d-- > 0;) {
    at[d] = rest % slot.spec.shape[d];
    rest /= slot.spec.shape[d];
  }
  return fmt::format("{}[{}]", slot.spec.name, fmt::join(at, ", "));
}

} // namespace assay::cuda
