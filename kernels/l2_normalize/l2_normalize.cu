// y = x / max(|x|, eps) over the rows of a matrix, one block a row.
#include "../common/block_reduce.h"
#include "../common/pack.h"

template <class T>
__global__ void __launch_bounds__(1024)
    l2_normalize(const T* __restrict__ x, long long x_row, T* __restrict__ y, int cols, float eps) {
  const T* in = x + blockIdx.x * x_row;
  float squares = 0.0f;
  visit(block_team(), cols, [&](long long, float v) { squares += v * v; }, in);
  const float length = sqrtf(block_reduce(squares, Sum()));
  const float norm = length < eps ? eps : length; // a NaN stays
  transform(
      block_team(), cols, [&](long long, float v) { return v / norm; },
      y + static_cast<size_t>(blockIdx.x) * cols, in);
}
