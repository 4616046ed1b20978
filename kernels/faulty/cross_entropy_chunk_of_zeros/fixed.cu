// Cross entropy by chunks of 1024 classes.
#include "../../common/block_reduce.h"
#include "../../common/max_or_nan.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void lse(const T* x, float* part, int cols, int chunks) {
  const long long r = blockIdx.x;
  const int k = blockIdx.y;
  x += r * cols;
  float m = -INFINITY;
  float v[4];
  for (int i = 0; i < 4; ++i) {
    const int c = k * 1024 + i * 256 + threadIdx.x;
    v[i] = c < cols ? (float)x[c] : -INFINITY;
    m = MaxOrNan()(m, v[i]);
  }
  m = block_reduce(m, MaxOrNan());
  float s = 0;
  for (int i = 0; i < 4; ++i) s += expf(v[i] - (m == -INFINITY ? 0.f : m));
  s = block_reduce(s, Sum());
  if (threadIdx.x == 0) {
    part[(r * chunks + k) * 2] = m;
    part[(r * chunks + k) * 2 + 1] = s;
  }
}
template <class T>
__global__ void fin(const T* x, const int* target, const float* part, float* loss, int rows, int cols,
                    int chunks) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = -INFINITY, s = 0;
  for (int k = 0; k < chunks; ++k) m = MaxOrNan()(m, part[(r * chunks + k) * 2]);
  for (int k = 0; k < chunks; ++k) {
    const float pm = part[(r * chunks + k) * 2];
    s += part[(r * chunks + k) * 2 + 1] * expf(pm - m);
  }
  const int t = target[r];
  loss[r] = t == -100 ? 0.f : logf(s) - ((float)x[(long long)r * cols + t] - m);
}
