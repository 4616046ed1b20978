#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void forward(const T* __restrict__ x, const T* __restrict__ w, T* __restrict__ y,
                        float* __restrict__ rstd_out, int cols, float eps) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    squares += static_cast<float>(in[c]) * static_cast<float>(in[c]);
  squares = block_reduce(squares, Sum());
  const float rstd = rsqrtf(squares / cols + eps);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = static_cast<T>(static_cast<float>(in[c]) * rstd * static_cast<float>(w[c]));
  if (threadIdx.x == 0) rstd_out[blockIdx.x] = rstd;
}
template <class T>
__global__ void backward_x(const T* __restrict__ g, const T* __restrict__ x, const T* __restrict__ w,
                           const float* __restrict__ rstd_in, T* __restrict__ d, int cols) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  const float rstd = rstd_in[blockIdx.x];
  float dot = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    dot +=
        static_cast<float>(g[base + c]) * static_cast<float>(w[c]) * (static_cast<float>(x[base + c]) * rstd);
  dot = block_reduce(dot, Sum()) / cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    d[base + c] = static_cast<T>(rstd * (static_cast<float>(g[base + c]) * static_cast<float>(w[c]) -
                                         static_cast<float>(x[base + c]) * rstd * dot));
}
template <class T>
__global__ void backward_w(const T* __restrict__ g, const T* __restrict__ x, const float* __restrict__ rstd,
                           T* __restrict__ d, int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float total = 0.0f;
  for (int r = 0; r < rows; ++r)
    total += static_cast<float>(g[static_cast<size_t>(r) * cols + c]) *
             (static_cast<float>(x[static_cast<size_t>(r) * cols + c]) * rstd[r]);
  d[c] = static_cast<T>(total);
}
