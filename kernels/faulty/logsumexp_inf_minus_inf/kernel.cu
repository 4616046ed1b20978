#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void row_lse(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) largest = fmaxf(largest, static_cast<float>(in[c]));
  largest = block_reduce(largest, Max());
  const float shift = largest;
  float total = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) total += expf(static_cast<float>(in[c]) - shift);
  total = block_reduce(total, Sum());
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<T>(shift + logf(total));
}
