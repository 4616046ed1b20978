// Rows and columns past the end wrap instead of being masked.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void mm(const T* a, const T* b, T* c, int m, int n, int k) {
  __shared__ float as[16][17], bs[16][17];
  const int x = threadIdx.x, y = threadIdx.y, i = (blockIdx.y * 16 + y), j = (blockIdx.x * 16 + x);
  float s = 0;
  for (int p = 0; p < k; p += 16) {
    as[y][x] = p + x < k ? (float)a[(long long)(i % m) * k + p + x] : 0.f;
    bs[y][x] = p + y < k ? (float)b[(long long)(p + y) * n + j % n] : 0.f;
    __syncthreads();
    for (int q = 0; q < 16; ++q) s += as[y][q] * bs[q][x];
    __syncthreads();
  }
  if (i < m && j < n) c[(long long)i * n + j] = (T)s;
}
