#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void forward(const T* __restrict__ x, const T* __restrict__ w, const T* __restrict__ b,
                        T* __restrict__ y, float* __restrict__ mean_out, float* __restrict__ rstd_out,
                        int cols, float eps) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += static_cast<float>(in[c]);
  const float mean = block_reduce(sum, Sum()) / cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float d = static_cast<float>(in[c]) - mean;
    squares += d * d;
  }
  const float rstd = rsqrtf(block_reduce(squares, Sum()) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = static_cast<T>((static_cast<float>(in[c]) - mean) * rstd * static_cast<float>(w[c]) +
                            static_cast<float>(b[c]));
  if (threadIdx.x == 0) mean_out[cols > 1 ? blockIdx.x : 0] = mean, rstd_out[blockIdx.x] = rstd;
}
template <class T>
__global__ void backward_x(const T* __restrict__ g, const T* __restrict__ x, const T* __restrict__ w,
                           const float* __restrict__ mean_in, const float* __restrict__ rstd_in,
                           T* __restrict__ d, int cols) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  const float mean = mean_in[blockIdx.x], rstd = rstd_in[blockIdx.x];
  float sum = 0.0f, dot = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float h = static_cast<float>(g[base + c]) * static_cast<float>(w[c]);
    sum += h;
    dot += h * ((static_cast<float>(x[base + c]) - mean) * rstd);
  }
  sum = block_reduce(sum, Sum()) / cols;
  dot = block_reduce(dot, Sum()) / cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float h = static_cast<float>(g[base + c]) * static_cast<float>(w[c]);
    d[base + c] = static_cast<T>(rstd * (h - sum - (static_cast<float>(x[base + c]) - mean) * rstd * dot));
  }
}
template <class T>
__global__ void backward_wb(const T* __restrict__ g, const T* __restrict__ x, const float* __restrict__ mean,
                            const float* __restrict__ rstd, T* __restrict__ dw, T* __restrict__ db, int rows,
                            int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float total_w = 0.0f, total_b = 0.0f;
  for (int r = 0; r < rows; ++r) {
    const size_t at = static_cast<size_t>(r) * cols + c;
    total_w += static_cast<float>(g[at]) * ((static_cast<float>(x[at]) - mean[r]) * rstd[r]);
    total_b += static_cast<float>(g[at]);
  }
  dw[c] = static_cast<T>(total_w);
  db[c] = static_cast<T>(total_b);
}
