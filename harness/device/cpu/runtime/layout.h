// How a buffer's elements lie in its storage.
#pragma once

#include "harness/device/cpu/runtime/region.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::cpu {

std::int64_t element_count(const std::vector<std::int64_t>& shape);
std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape);
bool is_dense(const Region& region); // row-major without gaps

// Calls f(dense index, byte offset) for every run of `length` elements that lie next to each other, in
// row-major order: f(std::int64_t index, std::size_t offset, std::int64_t length).
template <class F> void for_runs(const Region& region, F&& f) {
  const std::int64_t count = element_count(region.shape);
  if (count == 0) return;
  if (is_dense(region)) return f(0, region.offset, count);
  const std::size_t size = size_of(region.dtype);
  const std::size_t rank = region.shape.size();
  const std::int64_t inner = region.strides[rank - 1] == 1 ? region.shape[rank - 1] : 1;
  std::vector<std::int64_t> index(rank, 0);
  for (std::int64_t dense = 0; dense < count; dense += inner) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < rank; ++d) element += index[d] * region.strides[d];
    f(dense, region.offset + static_cast<std::size_t>(element) * size, inner);
    index[rank - 1] += inner;
    for (std::size_t d = rank; d-- > 1 && index[d] == region.shape[d];) {
      index[d] = 0;
      ++index[d - 1];
    }
  }
}

// The piece that holds the offset or is nearest to it; null where the region has no pieces.
const Piece* nearest_piece(const Region& region, std::int64_t offset);
// "y[3,5]", "y[8192]" (past the end, counted in elements from the start), "y + 5 bytes" (inside an element),
// "tile[12]".
std::string element_name(const Region& region, std::int64_t offset);
// "y, f32[8,1024]"; "shared tile, 128 bytes".
std::string describe(const Region& region, std::int64_t nearest_offset);

} // namespace assay::cpu
