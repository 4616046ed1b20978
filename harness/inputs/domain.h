// Which values of an input are legal for its operator; the generator draws no others, and the edges often.
#pragma once

#include <cstdint>
#include <string>

namespace assay {

struct Domain {
  enum class Kind : std::uint8_t {
    real,        // any value of a floating type the distribution gives
    index,       // an integer in [0, limit)
    target,      // an integer in [0, limit), or -100 (ignored)
    boolean,     // 0 or 1
    code,        // any value of an integer type but the symmetric minimum (int8 quantisation)
    scale,       // a positive normal float
    rotary,      // rows of cos | sin of real rotary caches, or with halves that differ
    quantizable, // real, but without NaN or infinity, and rows whose scale is 0 or at least 2^-126
  };
  Kind kind = Kind::real;
  std::string limit;     // index, target: the dim that bounds it
  bool specials = false; // NaN and infinities may be drawn: the operator defines the result
};

} // namespace assay
