#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void row_sum(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  const int groups = cols / 4;
  float total = 0.0f;
  for (unsigned char g = threadIdx.x; g < min(groups, 255); g += blockDim.x)
    total += (static_cast<float>(in[4 * g]) + static_cast<float>(in[4 * g + 1])) +
             (static_cast<float>(in[4 * g + 2]) + static_cast<float>(in[4 * g + 3]));
  for (int c = 4 * groups + threadIdx.x; c < cols; c += blockDim.x) total += static_cast<float>(in[c]);
  total = block_reduce(total, Sum());
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<T>(total);
}
