// Layer norm, one warp a row, and the gradients of weight and bias, one thread a column.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(32)
    layernorm_forward(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
                      T* __restrict__ y, float* __restrict__ mean, float* __restrict__ rstd, int cols,
                      float eps) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += static_cast<float>(in[c]);
  const float center = warp_reduce(sum, Sum()) / static_cast<float>(cols);
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float d = static_cast<float>(in[c]) - center;
    squares += d * d;
  }
  const float scale = 1.0f / sqrtf(warp_reduce(squares, Sum()) / static_cast<float>(cols) + eps);
  for (int c = threadIdx.x; c < cols; c += 32)
    out[c] = static_cast<T>((static_cast<float>(in[c]) - center) * scale * static_cast<float>(weight[c]) +
                            static_cast<float>(bias[c]));
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = center;
    rstd[blockIdx.x] = scale;
  }
}

template <class T>
__global__ void __launch_bounds__(128)
    layernorm_weight_gradients(const T* __restrict__ grad_y, const T* __restrict__ x,
                               const float* __restrict__ mean, const float* __restrict__ rstd,
                               T* __restrict__ grad_weight, T* __restrict__ grad_bias, int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  constexpr int tile = 16;
  float of_weight = 0.0f, of_bias = 0.0f;
  for (int first = 0; first < rows; first += tile)
    for (int r = first; r < min(first + tile, rows); ++r) {
      const float g = static_cast<float>(grad_y[static_cast<size_t>(r) * cols + c]);
      of_weight += g * (static_cast<float>(x[static_cast<size_t>(r) * cols + c]) - mean[r]) * rstd[r];
      of_bias += g;
    }
  grad_weight[c] = static_cast<T>(of_weight);
  grad_bias[c] = static_cast<T>(of_bias);
}
