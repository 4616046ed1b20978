// c = a b on tensor cores: tiles of 64 by 64 elements of c, 16 of k at a time through shared memory, 4 warps
// of 32 by 32 elements each, summed up in float32. What lies past an edge is 0 in the tiles and not stored.
// The rows of a and b may lie apart.
#include "../common/number.h"

#include <mma.h>

constexpr int tile_m = 64, tile_n = 64, tile_k = 16, threads = 128;
constexpr int part = 16; // wmma's m, n and k

// rows x cols elements at [row, col) of a matrix, 0 outside of it.
template <int rows, int cols, int stride, class T>
__device__ __forceinline__ void load_tile(T (&tile)[rows][stride], const T* __restrict__ from,
                                          long long from_row, long long row, long long col, int row_end,
                                          int col_end) {
  for (int i = threadIdx.x; i < rows * cols; i += threads) {
    const int r = i / cols, c = i % cols;
    const bool inside = row + r < row_end && col + c < col_end;
    tile[r][c] = inside ? from[(row + r) * from_row + col + c] : static_cast<T>(0.0f);
  }
}

template <class T>
__global__ void __launch_bounds__(threads)
    gemm_wmma(const T* __restrict__ a, long long a_row, const T* __restrict__ b, long long b_row,
              T* __restrict__ c, int m, int n, int k) {
  namespace wmma = nvcuda::wmma;
  __shared__ alignas(32) T a_tile[tile_m][tile_k + 8];
  __shared__ alignas(32) T b_tile[tile_k][tile_n + 8];
  __shared__ alignas(32) float c_tile[tile_m][tile_n + 4];
  const long long row = static_cast<long long>(blockIdx.x) * tile_m;
  const long long col = static_cast<long long>(blockIdx.y) * tile_n;
  const int warp = threadIdx.x / 32, warp_row = warp / 2 * 32, warp_col = warp % 2 * 32;

  wmma::fragment<wmma::accumulator, part, part, part, float> sum[2][2];
  for (auto& across : sum)
    for (auto& one : across) wmma::fill_fragment(one, 0.0f);

  for (int first = 0; first < k; first += tile_k) {
    load_tile<tile_m, tile_k>(a_tile, a, a_row, row, first, m, k);
    load_tile<tile_k, tile_n>(b_tile, b, b_row, first, col, k, n);
    __syncthreads();
    wmma::fragment<wmma::matrix_a, part, part, part, T, wmma::row_major> left[2];
    wmma::fragment<wmma::matrix_b, part, part, part, T, wmma::row_major> right[2];
    for (int i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(left[i], &a_tile[warp_row + part * i][0], tile_k + 8);
      wmma::load_matrix_sync(right[i], &b_tile[0][warp_col + part * i], tile_n + 8);
    }
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
    __syncthreads();
  }

  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(&c_tile[warp_row + part * i][warp_col + part * j], sum[i][j], tile_n + 4,
                              wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < tile_m * tile_n; i += threads) {
    const int r = i / tile_n, s = i % tile_n;
    if (row + r < m && col + s < n) c[(row + r) * n + col + s] = static_cast<T>(c_tile[r][s]);
  }
}
