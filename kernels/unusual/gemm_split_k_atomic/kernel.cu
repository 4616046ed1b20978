#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void part(const T* a, const T* b, float* sums, int m, int n, int k) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y, first = blockIdx.z * 64;
  if (row >= m || col >= n) return;
  float s = 0.0f;
  for (int i = first; i < min(first + 64, k); ++i)
    s = fmaf(static_cast<float>(a[row * k + i]), static_cast<float>(b[i * n + col]), s);
  atomicAdd(sums + row * n + col, s);
}
template <class T> __global__ void finish(const float* sums, T* c, int count) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < count) c[i] = static_cast<T>(sums[i]);
}
