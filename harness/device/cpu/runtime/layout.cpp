#include "harness/device/cpu/runtime/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace assay::cpu {

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    if (__builtin_mul_overflow(stride, std::max<std::int64_t>(shape[d], 1), &stride))
      stride = std::numeric_limits<std::int64_t>::max(); // a size that allocate() refuses
  }
  return strides;
}

bool is_dense(const Region& region) {
  std::int64_t stride = 1;
  for (std::size_t d = region.shape.size(); d-- > 0; stride *= region.shape[d])
    if (region.shape[d] != 1 && region.strides[d] != stride) return false;
  return true;
}

namespace {

// Indices of the element at `element` elements from the start; empty where it is a gap between elements.
std::vector<std::int64_t> indices_of(const Region& region, std::int64_t element) {
  std::vector<std::size_t> order(region.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater(), [&](std::size_t d) { return std::pair(region.strides[d], d); });
  std::vector<std::int64_t> index(region.shape.size(), 0);
  for (const std::size_t d : order) {
    if (region.shape[d] <= 1 || region.strides[d] == 0) continue;
    index[d] = std::min(element / region.strides[d], region.shape[d] - 1);
    element -= index[d] * region.strides[d];
  }
  if (element != 0) index.clear();
  return index;
}

} // namespace

const Piece* nearest_piece(const Region& region, std::int64_t offset) {
  if (!region.pieces) return nullptr;
  const Piece* best = nullptr;
  std::int64_t distance = 0;
  for (const Piece& piece : *region.pieces) {
    const std::int64_t d =
        offset < piece.begin ? piece.begin - offset : std::max<std::int64_t>(offset - piece.end + 1, 0);
    if (!best || d < distance) {
      best = &piece;
      distance = d;
    }
  }
  return best;
}

std::string element_name(const Region& region, std::int64_t offset) {
  if (region.kind != RegionKind::buffer) {
    const Piece* piece = nearest_piece(region, offset);
    const std::string& name = piece ? piece->name : region.name;
    const std::int64_t base = piece ? piece->begin : region.kind == RegionKind::local ? 0 : region.begin;
    return fmt::format("byte {} of {}", offset - base, name);
  }
  const auto size = static_cast<std::int64_t>(size_of(region.dtype));
  const std::int64_t relative = offset - static_cast<std::int64_t>(region.offset);
  const std::int64_t element = relative >= 0 ? relative / size : -((-relative + size - 1) / size);
  const std::int64_t rest = relative - element * size;
  const bool inside = relative >= 0 && relative < static_cast<std::int64_t>(region.bytes);
  const std::vector<std::int64_t> index = inside ? indices_of(region, element) : std::vector<std::int64_t>{};
  std::string name = index.empty() ? fmt::format("{}[{}]", region.name, element)
                                   : fmt::format("{}[{}]", region.name, fmt::join(index, ","));
  if (inside && index.empty() && !region.shape.empty()) name += " (a gap between its strided elements)";
  if (rest) name += fmt::format(" plus {} byte{}", rest, rest == 1 ? "" : "s");
  return name;
}

std::string describe(const Region& region, std::int64_t nearest_offset) {
  if (region.kind == RegionKind::buffer)
    return fmt::format("{}, {}[{}]", region.name, name_of(region.dtype), fmt::join(region.shape, ","));
  const Piece* piece = nearest_piece(region, nearest_offset);
  if (piece) return fmt::format("{}, {} bytes", piece->name, piece->end - piece->begin);
  return fmt::format("{}, {} bytes", region.name, region.end - region.begin);
}

} // namespace assay::cpu
