#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Layer norm, forward. One warp per row, eight rows per block.

constexpr int WARPS = 8;

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

template <typename T>
__global__ void __launch_bounds__(WARPS * 32)
    layernorm_forward(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
                      T* __restrict__ y, float* __restrict__ mean_out, float* __restrict__ rstd_out, int rows,
                      int cols, float eps) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * WARPS + threadIdx.x / 32;
  if (row >= rows) return;
  const T* in = x + (size_t)row * cols;
  T* out = y + (size_t)row * cols;

  float sum = 0.0f;
  float squares = 0.0f;
  for (int c = lane; c < cols; c += 32) {
    const float v = static_cast<float>(in[c]);
    sum += v;
    squares += v * v;
  }
  const float mean = warp_sum(sum) / cols;
  const float variance = warp_sum(squares) / cols - mean * mean;
  const float rstd = 1.0f / sqrtf(variance + eps);

  for (int c = lane; c < cols; c += 32) {
    const float normal = (static_cast<float>(in[c]) - mean) * rstd;
    out[c] = static_cast<T>(normal * static_cast<float>(weight[c]) + static_cast<float>(bias[c]));
  }
  if (lane == 0) {
    mean_out[row] = mean;
    rstd_out[row] = rstd;
  }
}
