#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Row sums for many rows. Eight lanes share a row, so that a warp covers four rows and a block sixteen; each
// lane adds every eighth element, then the lanes of a row are combined.

constexpr int LANES = 8;
constexpr int ROWS_PER_BLOCK = 16;

template <typename T>
__global__ void __launch_bounds__(LANES* ROWS_PER_BLOCK)
    row_sum(const T* __restrict__ x, T* __restrict__ y, int rows, int cols) {
  using Acc = float;
  const int lane = threadIdx.x % LANES;
  const int row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / LANES;

  Acc sum = static_cast<Acc>(0.0f);
  if (row < rows) {
    const T* in = x + (size_t)row * cols;
    for (int c = lane; c < cols; c += LANES) sum += static_cast<Acc>(in[c]);
  }
#pragma unroll
  for (int offset = LANES / 2; offset > 0; offset >>= 1)
    sum += __shfl_down_sync(0xffffffffu, sum, offset, LANES);
  if (row < rows && lane == 0) y[row] = static_cast<T>(sum);
}
