// What the perturbing number types need to know beyond their operands; one a
// thread, set by Evaluation.
#pragma once

#include "harness/numerics/formats.h"
#include "harness/ops/function_bounds.h"

#include <cstdint>

namespace assay {

struct NumberContext {
  std::uint64_t random = 0; // state of the draws
  enum class Sign : std::uint8_t { up, down, random } sign = Sign::up;
  Approximations approximate = 0;
  bool exact_points = true; // exp(0) and its like carry no error
  bool moves_exact = false; // noise moves results that are exact, too
  const Format* narrow = nullptr;
  unsigned narrowed = 0; // a set of Narrowed (op.h)

  // SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
  bool coin() {
    std::uint64_t z = random += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) >> 63;
  }
};

inline constinit thread_local NumberContext number_context;

} // namespace assay
