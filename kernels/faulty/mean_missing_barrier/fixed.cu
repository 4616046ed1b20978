// Mean of each row, one block a row: a sum a warp, then a sum of those.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(256) row_mean(const T* __restrict__ x, T* __restrict__ y, int cols) {
  __shared__ float partial[8];
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += static_cast<float>(in[c]);
  sum = warp_reduce(sum, Sum());
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 8; ++w) sum += partial[w];
  y[blockIdx.x] = static_cast<T>(sum / static_cast<float>(cols));
}
