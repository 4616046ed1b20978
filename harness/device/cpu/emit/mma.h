// The matrix product of mma.sync and wmma.mma, with fragments spread over the warp as fragment.h says.
#pragma once

#include "harness/device/cpu/emit/fragment.h"
#include "harness/device/cpu/emit/narrow_float.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::cpu {

enum class BitOperation : std::uint8_t { none, and_, xor_ };

// One instruction: d = a b + c.
struct MatrixProduct {
  Shape shape;
  Element a, b, c, d;
  bool wmma = false;
  bool saturates = false;                 // integers: at the ends of s32, once
  Round rounding = Round::nearest_even;   // f64
  BitOperation bits = BitOperation::none; // b1

  // Filled in by prepare().
  unsigned depth = 0;                    // of k, in elements; of b1 in words
  unsigned step = 0;                     // how much of it the hardware adds at once
  bool adds_apart = false;               // starts at zero and adds the addend at the end, as 8-bit floats do
  std::vector<std::uint16_t> a_at, b_at; // [row or column][place along k]: element's number in the registers
  std::vector<std::uint16_t> c_at, d_at; // [row][column]
};

void prepare(MatrixProduct& product);

inline constexpr unsigned most_matrix_registers = 8;

// An operand's registers, 32 lanes each; for each, the lanes that are undefined.
struct MatrixOperand {
  alignas(64) std::byte values[most_matrix_registers * warp_lanes * 8];
  std::uint32_t undefined[most_matrix_registers];
};
struct MatrixOperands {
  MatrixOperand a, b, c, d;
};

extern "C" {
// Fills in d. An element is undefined where its row of a, its column of b or its addend is.
void assay_matrix_product(const MatrixProduct* product, MatrixOperands* operands);
}

} // namespace assay::cpu
