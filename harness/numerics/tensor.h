// A dense, row-major array of one element type: what oracles read and write. Layouts with strides exist only
// in device buffers (harness/run copies); values are always in this form.
#pragma once

#include "harness/numerics/dtype.h"

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

namespace assay {

struct Tensor {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes; // element_count() * size_of(dtype)

  std::int64_t element_count() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
};

} // namespace assay
