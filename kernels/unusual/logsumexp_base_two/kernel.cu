#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void logsumexp(const T* x, T* y, int cols) {
  constexpr float log2_e = 1.4426950408889634f, ln_2 = 0.6931471805599453f;
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += 128) largest = fmaxf(largest, static_cast<float>(in[c]));
  largest = block_reduce(largest, Max());
  float sum = 0.0f; // NaN where there is one
  for (int c = threadIdx.x; c < cols; c += 128) {
    const float v = static_cast<float>(in[c]);
    sum += !isinf(largest) ? exp2f((v - largest) * log2_e) : isnan(v) ? v : 0.0f;
  }
  sum = block_reduce(sum, Sum());
  if (threadIdx.x == 0)
    y[blockIdx.x] = static_cast<T>(isinf(largest) ? largest + sum : (largest * log2_e + log2f(sum)) * ln_2);
}
