// y = x * rstd * weight, one block a row.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// 1 / sqrt(x) from its bits and a few steps of Newton's method.
constexpr int STEPS = 2;
__device__ float inverse_root(float x) {
  float y = __int_as_float(0x5f3759df - (__float_as_int(x) >> 1));
  for (int k = 0; k < STEPS; ++k) y = y * (1.5f - 0.5f * x * y * y);
  return y;
}

template <class T>
__global__ void __launch_bounds__(256)
    rmsnorm_forward(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y,
                    float* __restrict__ rstd, int cols, float eps) {
  const size_t first = static_cast<size_t>(blockIdx.x) * cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float v = static_cast<float>(x[first + c]);
    squares += v * v;
  }
  const float scale = inverse_root(block_reduce(squares, Sum()) / static_cast<float>(cols) + eps);
  if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[first + c] = static_cast<T>(static_cast<float>(x[first + c]) * scale * static_cast<float>(weight[c]));
}
