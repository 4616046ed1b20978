// y = gelu(x + bias) + residual, one block a row, and its gradients: what flows through the gelu is kept in
// float32 for the sums over rows that are the gradient of the bias.
#include "../common/column_sums.h"
#include "../common/pack.h"

constexpr float sqrt_half = 0.70710678118654752f, one_over_sqrt_two_pi = 0.39894228040143268f;

__device__ __forceinline__ float gelu(float v) { return 0.5f * v * erfcf(-v * sqrt_half); }
__device__ __forceinline__ float gelu_slope(float v) {
  return 0.5f * erfcf(-v * sqrt_half) + v * (one_over_sqrt_two_pi * expf(-0.5f * v * v));
}

template <class T>
__global__ void __launch_bounds__(256)
    bias_gelu_residual(const T* __restrict__ x, const T* __restrict__ bias, const T* __restrict__ residual,
                       T* __restrict__ y, int cols) {
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  transform(
      block_team(), cols, [](long long, float v, float b, float r) { return gelu(v + b) + r; }, y + row,
      x + row, bias, residual + row);
}

template <class T>
__global__ void __launch_bounds__(256)
    bias_gelu_residual_backward(const T* __restrict__ grad_y, const T* __restrict__ x,
                                const T* __restrict__ bias, T* __restrict__ grad_x,
                                T* __restrict__ grad_residual, int cols) {
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  transform(
      block_team(), cols, [](long long, float g, float v, float b) { return g * gelu_slope(v + b); },
      grad_x + row, grad_y + row, x + row, bias);
  transform(block_team(), cols, [](long long, float g) { return g; }, grad_residual + row, grad_y + row);
}

template <class T>
__global__ void __launch_bounds__(tile_cols* tile_threads_y)
    bias_partials(const T* __restrict__ grad_y, const T* __restrict__ x, const T* __restrict__ bias,
                  float* __restrict__ partial, int rows, int cols) {
  sum_tile(partial, rows, cols, [&](long long r, int c) {
    return widen(grad_y[r * cols + c]) * gelu_slope(widen(x[r * cols + c]) + widen(bias[c]));
  });
}
