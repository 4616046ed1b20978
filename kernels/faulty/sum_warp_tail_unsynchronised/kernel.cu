#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void row_sum(const T* __restrict__ x, T* __restrict__ y, int cols) {
  __shared__ float sums[256];
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int c = t; c < cols; c += 256)
    sum += static_cast<float>(x[static_cast<size_t>(blockIdx.x) * cols + c]);
  sums[t] = sum;
  __syncthreads();
  for (int half = 128; half > 32; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t < 32) {
    volatile float* s = sums;
    for (int half = 32; half > 0; half /= 2) s[t] += s[t + half];
  }
  if (t == 0) y[blockIdx.x] = static_cast<T>(sums[0]);
}
