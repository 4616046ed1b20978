#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void softmax(const T* __restrict__ x, T* __restrict__ y, int cols, long long row_stride,
                        long long col_stride) {
  const T* in = x + blockIdx.x * row_stride;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += 32) largest = fmaxf(largest, static_cast<float>(in[c]));
  largest = block_reduce(largest, Max());
  float total = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32)
    total += expf(static_cast<float>(in[c * col_stride]) - largest);
  total = block_reduce(total, Sum());
  for (int c = threadIdx.x; c < cols; c += 32)
    out[c] = static_cast<T>(expf(static_cast<float>(in[c * col_stride]) - largest) / total);
}
