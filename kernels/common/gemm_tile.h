// c = a b in tiles of 64 by 64 elements of c, 16 of k at a time through shared memory; 256 threads, 4 by 4
// elements each in registers. a and b by any strides, in elements; c is dense.
#pragma once

#include "number.h"

constexpr int gemm_m = 64, gemm_n = 64, gemm_k = 16, gemm_threads = 256;

template <class T> struct Operand {
  const T* data;
  long long row, col; // of a: m, k; of b: k, n
};

// The rows [row, row + rows) and columns [col, col + cols) of an operand, 0 outside of it, into shared
// memory. along_rows: whose neighbours lie beside each other in memory, for coalesced reads.
template <int rows, int cols, bool along_rows, class T, class Real>
__device__ __forceinline__ void load_tile(Real (&tile)[rows][cols + 1], const Operand<T>& from, long long row,
                                          long long col, int row_end, int col_end) {
#pragma unroll
  for (int i = threadIdx.x; i < rows * cols; i += gemm_threads) {
    const int r = along_rows ? i % rows : i / cols, c = along_rows ? i / rows : i % cols;
    tile[r][c] = row + r < row_end && col + c < col_end
                     ? widen(from.data[(row + r) * from.row + (col + c) * from.col])
                     : Real(0);
  }
}

// b_along_k: neighbours in k lie beside each other in b, as in a transposed one.
template <bool b_along_k, class T>
__device__ void gemm_tile(Operand<T> a, Operand<T> b, T* __restrict__ c, int m, int n, int k) {
  __shared__ Real<T> a_tile[gemm_m][gemm_k + 1];
  __shared__ Real<T> b_tile[gemm_k][gemm_n + 1];
  const long long row = static_cast<long long>(blockIdx.x) * gemm_m;
  const long long col = static_cast<long long>(blockIdx.y) * gemm_n;
  const int y = threadIdx.x / 16, x = threadIdx.x % 16; // elements y, y + 16, ... of the tile's rows
  Real<T> sum[4][4] = {};
  for (int first = 0; first < k; first += gemm_k) {
    load_tile<gemm_m, gemm_k, false>(a_tile, a, row, first, m, k);
    load_tile<gemm_k, gemm_n, b_along_k>(b_tile, b, first, col, k, n);
    __syncthreads();
#pragma unroll
    for (int l = 0; l < gemm_k; ++l) {
      Real<T> left[4], right[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) left[i] = a_tile[y + 16 * i][l], right[i] = b_tile[l][x + 16 * i];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const long long r = row + y + 16 * i, s = col + x + 16 * j;
      if (r < m && s < n) c[r * n + s] = static_cast<T>(sum[i][j]);
    }
}
