#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void forward(const T* __restrict__ x, T* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = static_cast<float>(x[i]);
  y[i] = static_cast<T>(v < 0.0f ? 0.0f : v);
}
template <class T>
__global__ void backward(const T* __restrict__ g, const T* __restrict__ x, const T* __restrict__ y,
                         T* __restrict__ d, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = static_cast<float>(x[i]), o = static_cast<float>(y[i]), u = static_cast<float>(g[i]);
  d[i] = static_cast<T>(isnan(v) ? v : v > 0.0f ? u : 0.0f);
}
