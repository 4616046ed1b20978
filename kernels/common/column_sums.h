// The gradients of per-column weights: sums over rows, in tiles of 32 rows by 64 columns, whose partial sums
// a second kernel adds up.
#pragma once

#include "number.h"

constexpr int tile_rows = 32, tile_cols = 64, tile_threads_y = 8; // blockDim: tile_cols, tile_threads_y

// partial[tile, c] = sum of term(r, c) over the rows of this block's tile: row tile blockIdx.x, column tile
// blockIdx.y. Every thread of the block takes part.
template <class Term> __device__ void sum_tile(float* partial, int rows, int cols, Term term) {
  __shared__ float sums[tile_threads_y][tile_cols];
  const int c = blockIdx.y * tile_cols + threadIdx.x;
  const long long first = static_cast<long long>(blockIdx.x) * tile_rows;
  float sum = 0.0f;
  if (c < cols)
    for (int r = threadIdx.y; r < tile_rows && first + r < rows; r += tile_threads_y)
      sum += term(first + r, c);
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  for (int half = tile_threads_y / 2; half > 0; half /= 2) {
    if (threadIdx.y < half) sums[threadIdx.y][threadIdx.x] += sums[threadIdx.y + half][threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.y == 0 && c < cols)
    partial[static_cast<size_t>(blockIdx.x) * cols + c] = sums[0][threadIdx.x];
  __syncthreads(); // another sum may follow
}

// total[c] = the sum over all tiles of partial[tile, c], one thread a column.
template <class T>
__global__ void __launch_bounds__(64)
    sum_partials(const float* __restrict__ partial, T* __restrict__ total, int tiles, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float sum = 0.0f;
  for (int tile = 0; tile < tiles; ++tile) sum += partial[static_cast<size_t>(tile) * cols + c];
  total[c] = static_cast<T>(sum);
}
