#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void forward(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) largest = fmaxf(largest, static_cast<float>(in[c]));
  largest = block_reduce(largest, Max());
  float total = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) total += expf(static_cast<float>(in[c]) - largest);
  const float log_total = logf(block_reduce(total, Sum()));
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = static_cast<T>((static_cast<float>(in[c]) - largest) - log_total);
}
template <class T>
__global__ void backward(const T* __restrict__ g, const T* __restrict__ y, T* __restrict__ d, int cols) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += static_cast<float>(g[base + c]);
  sum = block_reduce(sum, Sum());
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    d[base + c] =
        static_cast<T>(static_cast<float>(g[base + c]) - expf(static_cast<float>(y[base + c])) * sum);
}
