#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int ignored = -100;

template <class T>
__global__ void forward(const T* x, const int* target, float* loss, float* logsumexp, int classes) {
  const size_t base = static_cast<size_t>(blockIdx.x) * classes;
  float largest = Max::identity(), sum = 0.0f;
  for (int c = threadIdx.x; c < classes; c += 128) largest = fmaxf(largest, static_cast<float>(x[base + c]));
  largest = block_reduce(largest, Max());
  for (int c = threadIdx.x; c < classes; c += 128) sum += expf(static_cast<float>(x[base + c]) - largest);
  sum = block_reduce(sum, Sum());
  if (threadIdx.x != 0) return;
  const int t = target[blockIdx.x];
  logsumexp[blockIdx.x] = largest + logf(sum);
  loss[blockIdx.x] = t == ignored ? 0.0f : logf(sum) - (static_cast<float>(x[base + t]) - largest);
}

template <class T>
__global__ void backward(const T* x, const int* target, const float* g, const float* logsumexp, T* d,
                         int classes) {
  const size_t base = static_cast<size_t>(blockIdx.y) * classes;
  const int c = blockIdx.x * 128 + threadIdx.x, t = target[blockIdx.y];
  if (c >= classes) return;
  if (t == ignored) {
    d[base + c] = static_cast<T>(0.0f);
    return;
  }
  const float p = expf(static_cast<float>(x[base + c]) - logsumexp[blockIdx.y]);
  d[base + c] = static_cast<T>(g[blockIdx.y] * (p - (c == t ? 1.0f : 0.0f)));
}
