#include "harness/device/cpu/emit/areas.h"

#include <cstring>

namespace assay::cpu {

extern "C" {

void assay_area_store(std::uint8_t* area, std::uint32_t size, std::uint32_t offset, std::uint32_t element,
                      std::uint32_t lanes, const void* values, std::uint32_t undefined) {
  const auto* from = static_cast<const std::uint8_t*>(values);
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
    if ((lanes >> lane & 1) != 0) std::memcpy(area + lane * size + offset, from + lane * element, element);
  for (std::uint32_t byte = offset; byte < offset + element; ++byte) {
    std::uint8_t* place = area + warp_lanes * size + byte * 4;
    std::uint32_t mask = 0;
    std::memcpy(&mask, place, 4);
    mask = (mask & ~lanes) | (undefined & lanes);
    std::memcpy(place, &mask, 4);
  }
}

std::uint32_t assay_area_load(const std::uint8_t* area, std::uint32_t size, std::uint32_t offset,
                              std::uint32_t element, std::uint32_t lanes, void* values) {
  auto* into = static_cast<std::uint8_t*>(values);
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
    if ((lanes >> lane & 1) != 0) std::memcpy(into + lane * element, area + lane * size + offset, element);
  std::uint32_t undefined = 0;
  for (std::uint32_t byte = offset; byte < offset + element; ++byte) {
    std::uint32_t mask = 0;
    std::memcpy(&mask, area + warp_lanes * size + byte * 4, 4);
    undefined |= mask;
  }
  return undefined & lanes;
}

} // extern "C"

} // namespace assay::cpu
