#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void softmax(const T* x, T* y, int cols) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += 64) largest = fmaxf(largest, static_cast<float>(in[c]));
  largest = block_reduce(largest, Max());
  float total = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 64)
    total += exp2f((static_cast<float>(in[c]) - largest) * 1.44269504f);
  total = block_reduce(total, Sum());
  for (int c = threadIdx.x; c < cols; c += 64)
    y[static_cast<size_t>(blockIdx.x) * cols + c] =
        static_cast<T>(exp2f((static_cast<float>(in[c]) - largest) * 1.44269504f) / total);
}
