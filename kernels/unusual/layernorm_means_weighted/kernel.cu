#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// A warp a row: each lane by Welford's updates, then lanes merge as averages weighted by their counts.
template <class T>
__global__ void forward(const T* x, const T* w, const T* b, T* y, float* mean_out, float* rstd_out, int cols,
                        float eps) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  float n = 0.0f, mean = 0.0f, m2 = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float v = static_cast<float>(x[base + c]), d = v - mean;
    n += 1.0f;
    mean += d * __frcp_rn(n);
    m2 += d * (v - mean);
  }
  for (int o = 16; o > 0; o /= 2) {
    const float n2 = __shfl_down_sync(~0u, n, o), mean2 = __shfl_down_sync(~0u, mean, o),
                m22 = __shfl_down_sync(~0u, m2, o);
    const float all = n + n2;
    if (n == 0.0f || n2 == 0.0f) continue;
    const float one = 1.0f / all, share = n * one, share2 = n2 * one, d = mean2 - mean;
    mean = share * mean + share2 * mean2;
    m2 = m2 + m22 + d * d * share * n2;
    n = all;
  }
  mean = __shfl_sync(~0u, mean, 0);
  const float rstd = rsqrtf(__shfl_sync(~0u, m2, 0) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += 32)
    y[base + c] =
        static_cast<T>(static_cast<float>(w[c]) * (rstd * (static_cast<float>(x[base + c]) - mean)) +
                       static_cast<float>(b[c]));
  if (threadIdx.x == 0) mean_out[blockIdx.x] = mean, rstd_out[blockIdx.x] = rstd;
}

// cols * h - sum(h) - z * sum(h * z), all of it times rstd / cols.
template <class T>
__global__ void backward(const T* g, const T* x, const T* w, const float* mean_in, const float* rstd_in, T* d,
                         int cols) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  const float mean = mean_in[blockIdx.x], rstd = rstd_in[blockIdx.x];
  float sum = 0.0f, dot = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 64) {
    const float h = static_cast<float>(g[base + c]) * static_cast<float>(w[c]);
    sum += h;
    dot += h * (static_cast<float>(x[base + c]) - mean) * rstd;
  }
  sum = block_reduce(sum, Sum());
  dot = block_reduce(dot, Sum());
  const float count = static_cast<float>(cols), scale = 1.0f / count * rstd;
  for (int c = threadIdx.x; c < cols; c += 64) {
    float v = count * static_cast<float>(g[base + c]) * static_cast<float>(w[c]);
    v -= sum;
    v -= (static_cast<float>(x[base + c]) - mean) * rstd * dot;
    d[base + c] = static_cast<T>(v * scale);
  }
}
