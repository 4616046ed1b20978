#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
constexpr int TILE = 16;
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float at[2][TILE][TILE], bt[2][TILE][TILE];
  const int ty = threadIdx.y, tx = threadIdx.x, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  const auto load = [&](int s, int first) {
    if (row < m && first + tx < k)
      __pipeline_memcpy_async(&at[s][ty][tx], a + static_cast<size_t>(row) * k + first + tx, 4);
    else
      at[s][ty][tx] = 0.0f;
    if (first + ty < k && col < n)
      __pipeline_memcpy_async(&bt[s][ty][tx], b + static_cast<size_t>(first + ty) * n + col, 4);
    else
      bt[s][ty][tx] = 0.0f;
    __pipeline_commit();
  };
  load(0, 0);
  float sum = 0.0f;
  for (int first = 0, s = 0; first < k; first += TILE, s ^= 1) {
    if (first + TILE < k) {
      load(s ^ 1, first + TILE);
      __pipeline_wait_prior(1);
    } else
      __pipeline_wait_prior(0);
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum = fmaf(at[s][ty][i], bt[s][i][tx], sum);
    __syncthreads();
  }
  if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sum;
}
