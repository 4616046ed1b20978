#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void forward(const T* x, const T* w, T* y, float* rstd_out, int cols, float eps) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  float s = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 128)
    s += static_cast<float>(x[base + c]) * static_cast<float>(x[base + c]);
  const float rstd = rsqrtf(block_reduce(s, Sum()) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += 128)
    y[base + c] = static_cast<T>(static_cast<float>(x[base + c]) * rstd * static_cast<float>(w[c]));
  if (threadIdx.x == 0) rstd_out[blockIdx.x] = rstd;
}

// rstd * h, to which rstd * (-rstd^2 / cols * sum(h * x) * x) is added.
template <class T>
__global__ void backward(const T* g, const T* x, const T* w, const float* rstd_in, T* d, int cols) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  const float rstd = rstd_in[blockIdx.x];
  float dot = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 128)
    dot += static_cast<float>(g[base + c]) * static_cast<float>(w[c]) * static_cast<float>(x[base + c]);
  dot = block_reduce(dot, Sum());
  const float factor = -(1.0f / static_cast<float>(cols)) * rstd * rstd * dot;
  for (int c = threadIdx.x; c < cols; c += 128) {
    float v = rstd * (static_cast<float>(g[base + c]) * static_cast<float>(w[c]));
    v += rstd * (factor * static_cast<float>(x[base + c]));
    d[base + c] = static_cast<T>(v);
  }
}
