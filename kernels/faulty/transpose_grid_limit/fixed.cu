#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Transpose of tall, narrow matrices (arrays of structures to structures of arrays). One warp per tile of 4
// rows by 32 columns. gridDim.y is at most 65535, so the launcher caps it there.

constexpr int TILE_ROWS = 4;
constexpr int TILE_COLS = 32;

template <typename T>
__global__ void __launch_bounds__(32)
    transpose_narrow(const T* __restrict__ x, T* __restrict__ y, int rows, int cols) {
  __shared__ T tile[TILE_ROWS][TILE_COLS + 1];
  const int lane = threadIdx.x;
  const int first_col = blockIdx.x * TILE_COLS;

  for (int first_row = blockIdx.y * TILE_ROWS; first_row < rows; first_row += gridDim.y * TILE_ROWS) {
#pragma unroll
    for (int r = 0; r < TILE_ROWS; ++r) {
      const int row = first_row + r;
      const int col = first_col + lane;
      if (row < rows && col < cols) tile[r][lane] = x[(size_t)row * cols + col];
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < TILE_ROWS; ++i) {
      const int r = lane % TILE_ROWS;
      const int c = lane / TILE_ROWS + i * (32 / TILE_ROWS);
      const int row = first_row + r;
      const int col = first_col + c;
      if (row < rows && col < cols) y[(size_t)col * rows + row] = tile[r][c];
    }
    __syncwarp();
  }
}
