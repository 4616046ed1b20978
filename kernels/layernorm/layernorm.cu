// Layer norm over the rows of a matrix and its gradients, one block a row: the mean first, then the
// deviations from it. mean and rstd are kept in float32 for the backward pass.
#include "../common/block_reduce.h"
#include "../common/column_sums.h"
#include "../common/pack.h"

template <class T>
__global__ void __launch_bounds__(512)
    layernorm_forward(const T* __restrict__ x, long long x_row, const T* __restrict__ weight,
                      const T* __restrict__ bias, T* __restrict__ y, float* __restrict__ mean,
                      float* __restrict__ rstd, int cols, float eps) {
  const T* in = x + blockIdx.x * x_row;
  float sum = 0.0f;
  visit(block_team(), cols, [&](long long, float v) { sum += v; }, in);
  const float centre = block_reduce(sum, Sum()) / static_cast<float>(cols);

  float squares = 0.0f;
  visit(block_team(), cols, [&](long long, float v) { squares += (v - centre) * (v - centre); }, in);
  const float scale = rsqrtf(block_reduce(squares, Sum()) / static_cast<float>(cols) + eps);

  if (threadIdx.x == 0) {
    mean[blockIdx.x] = centre;
    rstd[blockIdx.x] = scale;
  }
  transform(
      block_team(), cols, [&](long long, float v, float w, float b) { return (v - centre) * scale * w + b; },
      y + static_cast<size_t>(blockIdx.x) * cols, in, weight, bias);
}

// With z = (x - mean) * rstd and h = grad_y * weight: grad_x = rstd * (h - mean(h) - z * mean(h * z)).
template <class T>
__global__ void __launch_bounds__(512)
    layernorm_backward(const T* __restrict__ grad_y, const T* __restrict__ x, long long x_row,
                       const T* __restrict__ weight, const float* __restrict__ mean,
                       const float* __restrict__ rstd, T* __restrict__ grad_x, int cols) {
  const T* in = x + blockIdx.x * x_row;
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  const float centre = mean[blockIdx.x], scale = rstd[blockIdx.x];
  float sum = 0.0f, dot = 0.0f;
  visit(
      block_team(), cols,
      [&](long long, float g, float v, float w) {
        sum += g * w;
        dot += g * w * ((v - centre) * scale);
      },
      grad_y + row, in, weight);
  const float mean_h = block_reduce(sum, Sum()) / static_cast<float>(cols);
  const float mean_hz = block_reduce(dot, Sum()) / static_cast<float>(cols);
  transform(
      block_team(), cols,
      [&](long long, float g, float v, float w) {
        return scale * (g * w - mean_h - (v - centre) * scale * mean_hz);
      },
      grad_x + row, grad_y + row, in, weight);
}

// grad_weight and grad_bias: the sums over rows of grad_y * z and of grad_y, one block a tile.
template <class T>
__global__ void __launch_bounds__(tile_cols* tile_threads_y)
    layernorm_weight_partials(const T* __restrict__ grad_y, const T* __restrict__ x, long long x_row,
                              const float* __restrict__ mean, const float* __restrict__ rstd,
                              float* __restrict__ of_weight, float* __restrict__ of_bias, int rows,
                              int cols) {
  sum_tile(of_weight, rows, cols, [&](long long r, int c) {
    return widen(grad_y[r * cols + c]) * ((widen(x[r * x_row + c]) - mean[r]) * rstd[r]);
  });
  sum_tile(of_bias, rows, cols, [&](long long r, int c) { return widen(grad_y[r * cols + c]); });
}
