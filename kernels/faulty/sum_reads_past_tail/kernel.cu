// Sum of each row, one block a row, four neighbouring elements a thread.
#include "../../common/block_reduce.h"

__global__ void __launch_bounds__(256) row_sum(const float* __restrict__ x, float* __restrict__ y, int cols) {
  const volatile float* in = x + static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int first = 4 * threadIdx.x; first < cols; first += 4 * blockDim.x) {
    float group[4];
    for (int i = 0; i < 4; ++i) group[i] = in[first + i];
    for (int i = 0; i < 4; ++i) sum += first + i < cols ? group[i] : 0.0f;
  }
  sum = block_reduce(sum, Sum());
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
