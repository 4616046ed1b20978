#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void softmax_forward(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) largest = fmaxf(largest, static_cast<float>(in[c]));
  largest = block_reduce(largest, Max());
  float total = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) total += expf(static_cast<float>(in[c]) - largest);
  total = block_reduce(total, Sum());
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = static_cast<T>(expf(static_cast<float>(in[c]) - largest) / total);
}
template <class T>
__global__ void softmax_backward(const T* __restrict__ g, const T* __restrict__ y, T* __restrict__ d,
                                 int cols) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  float dot = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    dot += static_cast<float>(g[base + c]) * static_cast<float>(y[base + c]);
  dot = block_reduce(dot, Sum());
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    d[base + c] = static_cast<T>(static_cast<float>(y[base + c]) * (static_cast<float>(g[base + c]) - dot));
}
