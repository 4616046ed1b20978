// c = a b on tensor cores, a tile of 16 by 16 elements of c a warp. Tiles that lie inside a matrix are read
// where they are; those at an edge go through shared memory first, filled up with zeros.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;
constexpr int TILE = 16, PITCH = TILE + 8;

template <class T>
__device__ void stage(T (&tile)[TILE][PITCH], const T* from, int row, int col, int rows, int cols) {
  for (int i = threadIdx.x; i < TILE * TILE; i += 32) {
    const int r = i / TILE, c = i % TILE;
    tile[r][c] = row + r < rows && col + c < cols ? from[static_cast<size_t>(row + r) * cols + col + c]
                                                  : static_cast<T>(0.0f);
  }
  __syncwarp();
}

template <class Fragment, class T>
__device__ void load(Fragment& fragment, T (&tile)[TILE][PITCH], const T* from, int row, int col, int rows,
                     int cols) {
  if (row + TILE <= rows && col + TILE <= cols && cols % 8 == 0) { // wmma wants rows of whole 16 bytes
    wmma::load_matrix_sync(fragment, from + static_cast<size_t>(row) * cols + col, cols);
    return;
  }
  stage(tile, from, row, col, rows, cols);
  wmma::load_matrix_sync(fragment, &tile[0][0], TILE);
  __syncwarp();
}

template <class T>
__global__ void __launch_bounds__(32)
    gemm(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k) {
  __shared__ alignas(32) T tile[TILE][PITCH];
  __shared__ alignas(32) float result[TILE][TILE];
  const int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
  wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int first = 0; first < k; first += TILE) {
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, T, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, T, wmma::row_major> right;
    load(left, tile, a, row, first, m, k);
    load(right, tile, b, first, col, k, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(&result[0][0], sum, TILE, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < TILE * TILE; i += 32) {
    const int r = row + i / TILE, s = col + i % TILE;
    if (r < m && s < n) c[static_cast<size_t>(r) * n + s] = static_cast<T>(result[i / TILE][i % TILE]);
  }
}
