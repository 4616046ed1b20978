#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __device__ void statistics(const T* in, int classes, float& largest, float& total) {
  largest = -INFINITY;
  for (int c = threadIdx.x; c < classes; c += blockDim.x) largest = fmaxf(largest, static_cast<float>(in[c]));
  largest = block_reduce(largest, Max());
  total = 0.0f;
  for (int c = threadIdx.x; c < classes; c += blockDim.x) total += expf(static_cast<float>(in[c]) - largest);
  total = block_reduce(total, Sum());
}
template <class T>
__global__ void forward(const T* __restrict__ x, const int* __restrict__ target, float* __restrict__ loss,
                        int classes) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * classes;
  float largest, total;
  statistics(in, classes, largest, total);
  const int t = target[blockIdx.x];
  if (threadIdx.x == 0)
    loss[blockIdx.x] = t == -100 ? 0.0f : logf(total) - (static_cast<float>(in[t]) - largest);
}
template <class T>
__global__ void backward(const float* __restrict__ g, const T* __restrict__ x, const int* __restrict__ target,
                         T* __restrict__ d, int classes) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * classes;
  T* out = d + static_cast<size_t>(blockIdx.x) * classes;
  float largest, total;
  statistics(in, classes, largest, total);
  const int t = target[blockIdx.x];
  const float scale = t == -100 ? 0.0f : g[blockIdx.x];
  for (int c = threadIdx.x; c < classes; c += blockDim.x)
    out[c] = static_cast<T>(
        t == -100 ? 0.0f : (expf(static_cast<float>(in[c]) - largest) / total - (c == t ? 1.0f : 0.0f)));
}
