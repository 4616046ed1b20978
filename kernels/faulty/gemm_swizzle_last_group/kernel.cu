// Tiles of 16 by 16, in groups of four rows of tiles.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void mm(const T* a, const T* b, T* c, int m, int n, int k, int tm, int tn) {
  __shared__ float as[16][17], bs[16][17];
  const int pid = blockIdx.x, per = 4 * tn, group = pid / per, first = group * 4;
  const int size = 4;
  const int pm = first + pid % per % size, pn = pid % per / size;
  const int x = threadIdx.x, y = threadIdx.y, i = pm * 16 + y, j = pn * 16 + x;
  float s = 0;
  for (int p = 0; p < k; p += 16) {
    as[y][x] = i < m && p + x < k ? (float)a[(long long)i * k + p + x] : 0.f;
    bs[y][x] = j < n && p + y < k ? (float)b[(long long)(p + y) * n + j] : 0.f;
    __syncthreads();
    for (int q = 0; q < 16; ++q) s += as[y][q] * bs[q][x];
    __syncthreads();
  }
  if (i < m && j < n) c[(long long)i * n + j] = (T)s;
}
