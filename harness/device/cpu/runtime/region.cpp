#include "harness/device/cpu/runtime/region.h"

namespace assay::cpu {

void poison(std::byte* data, std::size_t offset, std::size_t bytes) {
  const std::byte low{poison_pattern & 0xff}, high{poison_pattern >> 8};
  for (std::size_t i = offset; i < offset + bytes; ++i) data[i] = i % 2 ? high : low;
}

bool Region::enter_piece(std::int64_t low, std::int64_t high) {
  if (!pieces) return false;
  for (const Piece& piece : *pieces)
    if (low >= piece.begin && high <= piece.end) {
      begin = piece.begin;
      end = piece.end;
      return true;
    }
  return false;
}

} // namespace assay::cpu
