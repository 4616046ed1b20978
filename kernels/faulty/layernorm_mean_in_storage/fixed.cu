// y = (x - mean) * rstd * weight + bias, one block a row, in two passes over the row.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(256)
    layernorm_forward(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
                      T* __restrict__ y, int cols, float eps) {
  const size_t first = static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += static_cast<float>(x[first + c]);
  const float mean = block_reduce(sum, Sum()) / static_cast<float>(cols);
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float d = static_cast<float>(x[first + c]) - mean;
    squares += d * d;
  }
  const float rstd = rsqrtf(block_reduce(squares, Sum()) / static_cast<float>(cols) + eps);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float normal = (static_cast<float>(x[first + c]) - mean) * rstd;
    y[first + c] = static_cast<T>(normal * static_cast<float>(weight[c]) + static_cast<float>(bias[c]));
  }
}
