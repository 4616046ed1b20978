#include <cuda_pipeline.h>

constexpr int TILE = 16;
// Two stages: while one tile is used, the next is copied.
__global__ void gemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
                     int n, int k) {
  __shared__ float a_tile[2][TILE][TILE], b_tile[2][TILE][TILE];
  const int ty = threadIdx.y, tx = threadIdx.x;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  const auto copy = [](float* to, const float* from, bool inside) {
    __pipeline_memcpy_async(to, from, sizeof(float), inside ? 0 : sizeof(float)); // else zeros
  };
  const auto load = [&](int stage, int first) {
    const bool a_inside = row < m && first + tx < k, b_inside = first + ty < k && col < n;
    copy(&a_tile[stage][ty][tx], a_inside ? a + static_cast<size_t>(row) * k + first + tx : a, a_inside);
    copy(&b_tile[stage][ty][tx], b_inside ? b + static_cast<size_t>(first + ty) * n + col : b, b_inside);
    __pipeline_commit();
  };
  load(0, 0);
  float sum = 0.0f;
  int stage = 0;
  for (int first = 0; first < k; first += TILE, stage ^= 1) {
    if (first + TILE < k) {
      load(stage ^ 1, first + TILE);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += a_tile[stage][ty][i] * b_tile[stage][i][tx];
    __syncthreads();
  }
  if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sum;
}
