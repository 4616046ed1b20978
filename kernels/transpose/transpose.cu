// y[c, r] = x[r, c] in tiles of 32 by 32 through shared memory, read and written along rows. All tiles along
// one dimension of the grid, which reaches further than the others.
#include "../common/number.h"

constexpr int tile = 32, tile_threads_y = 8;

template <class T>
__global__ void __launch_bounds__(tile* tile_threads_y)
    transpose(const T* __restrict__ x, long long x_row, long long x_col, T* __restrict__ y, int rows,
              int cols, int tiles_across) {
  __shared__ T part[tile][tile + 1];
  const long long first_row = static_cast<long long>(blockIdx.x / tiles_across) * tile;
  const long long first_col = static_cast<long long>(blockIdx.x % tiles_across) * tile;
  for (int i = threadIdx.y; i < tile; i += tile_threads_y) {
    const long long r = first_row + i, c = first_col + threadIdx.x;
    if (r < rows && c < cols) part[i][threadIdx.x] = x[r * x_row + c * x_col];
  }
  __syncthreads();
  for (int i = threadIdx.y; i < tile; i += tile_threads_y) {
    const long long c = first_col + i, r = first_row + threadIdx.x;
    if (r < rows && c < cols) y[c * rows + r] = part[threadIdx.x][i];
  }
}
