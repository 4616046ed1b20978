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
  const float rstd = 1.0f / sqrtf(block_reduce(s, Sum()) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += 64)
    y[base + c] =
        static_cast<T>((1.0f + static_cast<float>(w[c])) * (static_cast<float>(x[base + c]) * rstd));
  if (threadIdx.x == 0) rstd_out[blockIdx.x] = rstd;
}
template <class T>
__global__ void backward(const T* g, const T* x, const T* w, const float* rstd_in, T* d, float* dw,
                         int cols) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  const float rstd = rstd_in[blockIdx.x];
  float dot = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 64) {
    const float z = static_cast<float>(x[base + c]) * rstd;
    dot += static_cast<float>(g[base + c]) * (1.0f + static_cast<float>(w[c])) * z;
    atomicAdd(dw + c, static_cast<float>(g[base + c]) * z);
  }
  const float mean = block_reduce(dot, Sum()) / cols;
  for (int c = threadIdx.x; c < cols; c += 64)
    d[base + c] = static_cast<T>((static_cast<float>(g[base + c]) * (1.0f + static_cast<float>(w[c])) -
                                  static_cast<float>(x[base + c]) * rstd * mean) *
                                 rstd);
}
template <class T> __global__ void finish(const float* dw, T* out, int cols) {
  const int c = blockIdx.x * 64 + threadIdx.x;
  if (c < cols) out[c] = static_cast<T>(dw[c]);
}
