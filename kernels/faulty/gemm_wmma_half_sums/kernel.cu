// c = a b on tensor cores, a tile of 16 by 16 elements of c a warp, through shared memory.
#include <cuda_fp16.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;
constexpr int TILE = 16, PITCH = TILE + 8;
using Accumulator = __half;

__device__ void stage(__half (&tile)[TILE][PITCH], const __half* from, int row, int col, int rows, int cols) {
  for (int i = threadIdx.x; i < TILE * TILE; i += 32) {
    const int r = i / TILE, c = i % TILE;
    tile[r][c] = row + r < rows && col + c < cols ? from[static_cast<size_t>(row + r) * cols + col + c]
                                                  : static_cast<__half>(0.0f);
  }
}

__global__ void __launch_bounds__(32) gemm(const __half* __restrict__ a, const __half* __restrict__ b,
                                           __half* __restrict__ c, int m, int n, int k) {
  __shared__ alignas(32) __half a_tile[TILE][PITCH], b_tile[TILE][PITCH];
  __shared__ alignas(32) Accumulator result[TILE][TILE];
  const int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
  wmma::fragment<wmma::accumulator, TILE, TILE, TILE, Accumulator> sum;
  wmma::fill_fragment(sum, static_cast<Accumulator>(0.0f));
  for (int first = 0; first < k; first += TILE) {
    stage(a_tile, a, row, first, m, k);
    stage(b_tile, b, first, col, k, n);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, __half, wmma::row_major> right;
    wmma::load_matrix_sync(left, &a_tile[0][0], PITCH);
    wmma::load_matrix_sync(right, &b_tile[0][0], PITCH);
    wmma::mma_sync(sum, left, right, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(&result[0][0], sum, TILE, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < TILE * TILE; i += 32) {
    const int r = row + i / TILE, s = col + i % TILE;
    if (r < m && s < n) c[static_cast<size_t>(r) * n + s] = static_cast<__half>(result[i / TILE][i % TILE]);
  }
}
