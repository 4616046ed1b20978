// The kinds of domains alone: NVRTC takes this header too.
#pragma once

#include <cstdint>

namespace assay {

enum class DomainKind : std::uint8_t {
  real,        // any value of a floating type the distribution gives
  index,       // an integer in [0, limit)
  target,      // an integer in [0, limit), or -100 (ignored)
  boolean,     // 0 or 1
  code,        // any value of an integer type but the symmetric minimum (int8 quantisation)
  scale,       // a positive normal float
  rotary,      // rows of cos | sin of real rotary caches, or with halves that differ
  quantizable, // real, but without NaN or infinity, and rows whose scale is 0 or at least 2^-126
};

} // namespace assay
