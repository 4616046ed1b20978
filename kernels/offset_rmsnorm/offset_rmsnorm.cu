// y = x * rstd * (1 + weight), rstd = 1 / sqrt(mean(x^2) + eps), over the rows of a matrix. One block a row,
// float32 inside, rounded once at the store; rstd is kept in float32 for the backward pass.
#include "../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(512)
    offset_rmsnorm_forward(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y,
                           float* __restrict__ rstd, int cols, float eps) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;

  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float value = static_cast<float>(in[c]);
    squares += value * value;
  }
  const float scale = rsqrtf(block_reduce(squares, Sum()) / static_cast<float>(cols) + eps);
  if (threadIdx.x == 0) rstd[blockIdx.x] = scale;

  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = static_cast<T>(static_cast<float>(in[c]) * scale * (1.0f + static_cast<float>(weight[c])));
}
