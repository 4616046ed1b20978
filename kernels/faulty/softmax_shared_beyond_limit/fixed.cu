#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void softmax(const T* __restrict__ x, T* __restrict__ y, int cols) {
  extern __shared__ float row[];
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += 64)
    largest = fmaxf(largest, row[c] = static_cast<float>(x[base + c]));
  largest = block_reduce(largest, Max());
  float total = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 64) total += row[c] = expf(row[c] - largest);
  total = 1.0f / block_reduce(total, Sum());
  for (int c = threadIdx.x; c < cols; c += 64) y[base + c] = static_cast<T>(row[c] * total);
}
