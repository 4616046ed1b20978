#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void add(const T* __restrict__ x, float* __restrict__ total, int cols) {
  const int c = blockIdx.x * 128 + threadIdx.x;
  float v = c < cols ? static_cast<float>(x[static_cast<size_t>(blockIdx.y) * cols + c]) : 0.0f;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) atomicAdd(total + blockIdx.y, v);
}
template <class T> __global__ void store(const float* __restrict__ total, T* __restrict__ y, int rows) {
  const int r = blockIdx.x * 32 + threadIdx.x;
  if (r < rows) y[r] = static_cast<T>(total[r]);
}
