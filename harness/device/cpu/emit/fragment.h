// How the tensor-core instructions spread a matrix over the registers of a warp.
//
// One pattern serves all of them: eight lines of a matrix lie in eight groups of four lanes, a lane holding
// the next 32 bits of its line. mma.sync's fragments are so documented (PTX ISA, "Matrix Fragments for
// mma"). PTX leaves the fragments of wmma open; on an H200 they are those of the mma.sync that it is made of,
// in the order below, with m8n32k16 as the transpose of m32n8k16. An f16 factor of wmma has eight registers
// whatever its size: those beyond its elements repeat the first ones.
#pragma once

#include "harness/device/cpu/runtime/abi.h"

#include <cstdint>
#include <string_view>

namespace assay::cpu {

enum class Element : std::uint8_t { f16, bf16, tf32, f32, f64, e4m3, e5m2, s8, u8, s4, u4, s32, b1 };
enum class Part : std::uint8_t { a, b, c }; // of d = a b + c; d lies as c does

unsigned bits_of(Element element);

struct Shape {
  unsigned m = 0, n = 0, k = 0;
};

Shape parse_shape(std::string_view name); // "m16n8k16"; what is no shape: zeros

class Fragment {
 public:
  Fragment(Part part, Shape shape, Element element);

  unsigned registers() const; // of a lane, without repetitions
  unsigned elements() const { return elements_; }
  unsigned register_bits() const { return elements_ * bits_; } // 32 or 64

  // Of a: row and place along k; of b: column and place along k; of c: row and column.
  struct Position {
    unsigned line, across;
  };
  // Whether the elements of a register differ in `across`; else in `line`.
  bool elements_across() const { return !(accumulator_ && transposed_); }
  Position at(unsigned reg, unsigned element, unsigned lane) const;

 private:
  bool accumulator_, transposed_;
  unsigned bits_, elements_; // an element's; in a register
  unsigned lines_, width_;   // of the matrix as it is laid out
  unsigned tile_;            // lines of one mma: 8 or 16
};

} // namespace assay::cpu
