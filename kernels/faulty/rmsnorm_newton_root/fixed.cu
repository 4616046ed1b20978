// y = x * rstd * weight, one block a row.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

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
  const float scale = rsqrtf(block_reduce(squares, Sum()) / static_cast<float>(cols) + eps);
  if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[first + c] = static_cast<T>(static_cast<float>(x[first + c]) * scale * static_cast<float>(weight[c]));
}
