// y = gelu(x + bias) + residual, one element a thread.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(256)
    bias_gelu_residual(const T* __restrict__ x, const T* __restrict__ bias, const T* __restrict__ residual,
                       T* __restrict__ y, int rows, int cols) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<long long>(rows) * cols) return;
  const float v = static_cast<float>(x[i]) + static_cast<float>(bias[i % cols]);
  y[i] = static_cast<T>(0.5f * v * (1.0f + erff(v * 0.70710678f)) + static_cast<float>(residual[i]));
}
