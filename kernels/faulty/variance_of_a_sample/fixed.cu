// Population variance of each row in two passes, one block a row.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(256) row_variance(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += static_cast<float>(in[c]);
  const float mean = block_reduce(sum, Sum()) / static_cast<float>(cols);
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float d = static_cast<float>(in[c]) - mean;
    squares += d * d;
  }
  squares = block_reduce(squares, Sum());
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<T>(squares / static_cast<float>(cols));
}
