#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void forward(const T* x, const T* w, T* y, float* rstd_out, int cols, float eps) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  float s = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 64)
    s += static_cast<float>(x[base + c]) * static_cast<float>(x[base + c]);
  const float root = sqrtf(block_reduce(s, Sum()) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += 64)
    y[base + c] = static_cast<T>(static_cast<float>(x[base + c]) / root * static_cast<float>(w[c]));
  if (threadIdx.x == 0) rstd_out[blockIdx.x] = 1.0f / root;
}

// As differentiating x * rsqrt(mean(x^2) + eps) has it: h * rstd - x * (mean(h * x) * rstd^3).
template <class T>
__global__ void backward(const T* g, const T* x, const T* w, const float* rstd_in, T* d, int cols) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  const float rstd = rstd_in[blockIdx.x];
  float dot = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 64)
    dot = fmaf(static_cast<float>(g[base + c]) * static_cast<float>(w[c]), static_cast<float>(x[base + c]),
               dot);
  const float mean = block_reduce(dot, Sum()) / cols;
  for (int c = threadIdx.x; c < cols; c += 64) {
    const float h = static_cast<float>(g[base + c]) * static_cast<float>(w[c]);
    d[base + c] = static_cast<T>(h * rstd - static_cast<float>(x[base + c]) * (mean * rstd * rstd * rstd));
  }
}
