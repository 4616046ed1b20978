// c = a b in tiles of 16 by 16 through shared memory, one element of c a thread.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int TILE = 16;
constexpr float beta = 0.0f;

template <class T>
__global__ void __launch_bounds__(TILE* TILE)
    gemm(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k) {
  __shared__ float a_tile[TILE][TILE + 1];
  __shared__ float b_tile[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  using Accumulator = float;
  Accumulator sum = static_cast<Accumulator>(0.0f);
  for (int first = 0; first < k; first += TILE) {
    const int a_col = first + threadIdx.x;
    const int b_row = first + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] =
        row < m && a_col < k ? static_cast<float>(a[static_cast<size_t>(row) * k + a_col]) : 0.0f;
    b_tile[threadIdx.y][threadIdx.x] =
        b_row < k && col < n ? static_cast<float>(b[static_cast<size_t>(b_row) * n + col]) : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i)
      sum =
          static_cast<Accumulator>(static_cast<float>(sum) + a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x]);
    __syncthreads();
  }
  if (row < m && col < n)
    c[static_cast<size_t>(row) * n + col] =
        static_cast<T>(sum + beta * static_cast<float>(c[static_cast<size_t>(row) * n + col]));
}
