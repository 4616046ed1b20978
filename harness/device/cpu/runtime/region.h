// A piece of device memory: a buffer, a module variable, a block's shared window, a warp's local memory, the
// parameters. Accesses are checked against [begin, end); nothing outside it is ever touched.
#pragma once

#include "harness/device/cpu/runtime/abi.h"
#include "harness/device/cpu/runtime/byte_bits.h"
#include "harness/device/cpu/runtime/race_shadow.h"
#include "harness/device/device.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::cpu {

// What memory that nobody wrote holds: 0x7ff7 again and again, a NaN in f16, bf16, f32, f64 and a wild index.
inline constexpr std::uint16_t poison_pattern = 0x7ff7;
void poison(std::byte* data, std::size_t offset, std::size_t bytes); // the pattern is anchored at offset 0

struct Piece { // a part of a region that one variable owns
  std::string name;
  std::int64_t begin = 0, end = 0;
};

enum class RegionKind : std::uint8_t {
  none,
  buffer,
  variable,
  constant,
  shared,
  local,
  parameters,
  heap,
  freed
};

struct Region {
  std::byte* data = nullptr; // host address of offset 0
  // The legal offsets, or those of the piece that was touched last where the region has several.
  std::int64_t begin = 0, end = 0;
  std::uint64_t* undefined =
      nullptr;                 // bit a byte: nobody wrote it, or what was written derives from such bytes
  RaceShadow* races = nullptr; // null: nothing that could race is written here
  RegionKind kind = RegionKind::none;
  BufferRole role = BufferRole::scratch;
  bool read_only = false;

  // Cold.
  std::string name;
  DType dtype = DType::u8;
  std::vector<std::int64_t> shape, strides;   // buffers; strides filled in
  std::size_t offset = 0;                     // bytes before the first element
  std::size_t bytes = 0;                      // of the storage, from the first element on
  const std::vector<Piece>* pieces = nullptr; // null: one piece
  ByteBits undefined_bits;
  RaceShadow race_shadow;
  bool stored_undefined = false; // an undefined value was stored since the last launch ended
  Site stored_undefined_site{};
  ByteBits tainted; // bytes whose last undefined value was stored, not just never written; empty until one is

  std::size_t tracked_bytes() const { return pieces ? bytes : static_cast<std::size_t>(end); }
  bool inside(std::int64_t low, std::int64_t high) const { return low >= begin && high <= end; }
  // Moves [begin, end) to the piece that holds [low, high); false where none does.
  bool enter_piece(std::int64_t low, std::int64_t high);
};

} // namespace assay::cpu
