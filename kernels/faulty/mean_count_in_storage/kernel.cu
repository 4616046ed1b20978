#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void chunk_sums(const T* __restrict__ x, float* __restrict__ partial, int cols, int chunks) {
  const T* in = x + static_cast<size_t>(blockIdx.y) * cols;
  const int first = blockIdx.x * 256;
  float total = 0.0f;
  for (int c = first + threadIdx.x; c < min(first + 256, cols); c += blockDim.x)
    total += static_cast<float>(in[c]);
  total = block_reduce(total, Sum());
  if (threadIdx.x == 0) partial[static_cast<size_t>(blockIdx.y) * chunks + blockIdx.x] = total;
}
template <class T>
__global__ void combine(const float* __restrict__ partial, T* __restrict__ y, int rows, int cols,
                        int chunks) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float total = 0.0f;
  for (int k = 0; k < chunks; ++k) total += partial[static_cast<size_t>(row) * chunks + k];
  y[row] = static_cast<T>(total / static_cast<float>(static_cast<T>(cols)));
}
