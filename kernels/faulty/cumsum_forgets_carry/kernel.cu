// Running sums along each row, one block a row, in tiles of 256: a scan by doubling, and a carry from tile to
// tile.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int TILE = 256;

template <class T>
__global__ void __launch_bounds__(TILE) row_cumsum(const T* __restrict__ x, T* __restrict__ y, int cols) {
  __shared__ float scan[TILE];
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;
  float carry = 0.0f;
  for (int first = 0; first < cols; first += TILE) {
    const int c = first + threadIdx.x;
    scan[threadIdx.x] = c < cols ? static_cast<float>(in[c]) : 0.0f;
    __syncthreads();
    for (int distance = 1; distance < TILE; distance *= 2) {
      const float left = threadIdx.x >= distance ? scan[threadIdx.x - distance] : 0.0f;
      __syncthreads();
      scan[threadIdx.x] += left;
      __syncthreads();
    }
    if (c < cols) out[c] = static_cast<T>(carry + scan[threadIdx.x]);
    carry = scan[TILE - 1];
    __syncthreads();
  }
}
