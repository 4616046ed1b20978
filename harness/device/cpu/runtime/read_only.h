// Stores into memory that the kernel may only read: constants and parameters (out of bounds), inputs
// (input_modified, and the input keeps its bits, so that what is compared stays right).
#pragma once

#include "harness/device/cpu/runtime/access.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace assay::cpu {

// `lane` would change what it may not. Returns where that is not fatal.
void report_forbidden_store(WarpContext& context, const Access& access, const Region& region, unsigned lane,
                            std::int64_t offset);

// bytes_of(lane, std::byte*) gives what the lane would store.
template <class BytesOf>
void refuse_store(WarpContext& context, std::uint32_t lanes, const Access& access, const Checked& at,
                  BytesOf&& bytes_of) {
  const unsigned size = unsigned{access.element_bytes} * access.vector;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    std::array<std::byte, 32> bytes;
    bytes_of(lane, bytes.data());
    const std::int64_t offset = at.offset_of(lane, size);
    const bool same = at.region->role == BufferRole::input && at.region->kind == RegionKind::buffer &&
                      std::memcmp(at.region->data + offset, bytes.data(), size) == 0;
    if (!same) report_forbidden_store(context, access, *at.region, lane, offset);
  }
}

} // namespace assay::cpu
