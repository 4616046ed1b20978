// x / rms(x) * (1 + weight), and its gradients.
#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void fwd(const T* x, const T* w, T* y, float* rstd, int cols, float eps) {
  const long long r = blockIdx.x;
  x += r * cols;
  y += r * cols;
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += 256) s += (float)x[c] * (float)x[c];
  s = 1.f / sqrtf(block_reduce(s, Sum()) / cols + eps);
  if (threadIdx.x == 0) rstd[r] = s;
  for (int c = threadIdx.x; c < cols; c += 256) y[c] = (T)((float)x[c] * s * (1.f + (float)(w[c])));
}
template <class T>
__global__ void bwd(const T* g, const T* x, const T* w, const float* rstd, T* gx, int cols) {
  const long long r = blockIdx.x;
  x += r * cols;
  g += r * cols;
  gx += r * cols;
  const float s = rstd[r];
  float d = 0;
  for (int c = threadIdx.x; c < cols; c += 256) d += (float)g[c] * (1.f + (float)(w[c])) * (float)x[c] * s;
  d = block_reduce(d, Sum()) / cols;
  for (int c = threadIdx.x; c < cols; c += 256)
    gx[c] = (T)(s * ((float)g[c] * (1.f + (float)(w[c])) - (float)x[c] * s * d));
}
template <class T> __global__ void bww(const T* g, const T* x, const float* rstd, T* gw, int rows, int cols) {
  const int c = blockIdx.x * 64 + threadIdx.x;
  if (c >= cols) return;
  float s = 0;
  for (int r = 0; r < rows; ++r)
    s += (float)g[(long long)r * cols + c] * (float)x[(long long)r * cols + c] * rstd[r];
  gw[c] = (T)s;
}
