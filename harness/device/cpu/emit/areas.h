// Parameter areas: where .param variables of calls live. One area holds, for each lane, the variable's bytes,
// and behind them for each byte the mask of lanes in which it is undefined. Caller and callee pass areas by
// pointer: first the result's (if there is one), then the parameters'.
#pragma once

#include "harness/device/cpu/runtime/abi.h"

#include <cstdint>

namespace assay::cpu {

// Bytes of an area for a variable of `bytes`.
inline constexpr std::uint64_t area_bytes(std::uint64_t bytes) { return bytes * warp_lanes + bytes * 4; }

extern "C" {
// Stores `count` vectors of `element` bytes a lane at `offset` of each active lane's part.
void assay_area_store(std::uint8_t* area, std::uint32_t size, std::uint32_t offset, std::uint32_t element,
                      std::uint32_t lanes, const void* values, std::uint32_t undefined);
// The reverse; returns the undefined lanes.
std::uint32_t assay_area_load(const std::uint8_t* area, std::uint32_t size, std::uint32_t offset,
                              std::uint32_t element, std::uint32_t lanes, void* values);
}

} // namespace assay::cpu
