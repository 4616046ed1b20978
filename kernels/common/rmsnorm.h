// y = x * rstd * weight, or with an offset x * rstd * (1 + weight); rstd = 1 / sqrt(mean(x^2) + eps) over
// each row. One block a row, float32 inside, rounded once at the store; rstd is kept in float32 for the
// backward pass.
#pragma once

#include "block_reduce.h"
#include "column_sums.h"
#include "pack.h"

template <bool offset> __device__ __forceinline__ float scale_of(float weight) {
  return offset ? 1.0f + weight : weight;
}

template <bool offset, class T>
__device__ void rmsnorm_row(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y,
                            float* __restrict__ rstd, int cols, float eps) {
  float squares = 0.0f;
  visit(block_team(), cols, [&](long long, float v) { squares += v * v; }, x);
  const float scale = rsqrtf(block_reduce(squares, Sum()) / static_cast<float>(cols) + eps);
  if (threadIdx.x == 0) *rstd = scale;
  transform(
      block_team(), cols, [&](long long, float v, float w) { return v * scale * scale_of<offset>(w); }, y, x,
      weight);
}

// With z = x * rstd and h = grad_y * weight: grad_x = rstd * (h - z * mean(h * z)).
template <bool offset, class T>
__device__ void rmsnorm_row_backward(const T* __restrict__ grad_y, const T* __restrict__ x,
                                     const T* __restrict__ weight, float rstd, T* __restrict__ grad_x,
                                     int cols) {
  float dot = 0.0f;
  visit(
      block_team(), cols,
      [&](long long, float g, float v, float w) { dot += g * scale_of<offset>(w) * (v * rstd); }, grad_y, x,
      weight);
  const float mean = block_reduce(dot, Sum()) / static_cast<float>(cols);
  transform(
      block_team(), cols,
      [&](long long, float g, float v, float w) {
        return rstd * (g * scale_of<offset>(w) - v * rstd * mean);
      },
      grad_x, grad_y, x, weight);
}

// grad_weight: the sum over rows of grad_y * z, one block a tile.
template <class T>
__global__ void __launch_bounds__(tile_cols* tile_threads_y)
    rmsnorm_weight_partials(const T* __restrict__ grad_y, const T* __restrict__ x, long long x_row,
                            const float* __restrict__ rstd, float* __restrict__ partial, int rows, int cols) {
  sum_tile(partial, rows, cols, [&](long long r, int c) {
    return widen(grad_y[r * cols + c]) * (widen(x[r * x_row + c]) * rstd[r]);
  });
}
