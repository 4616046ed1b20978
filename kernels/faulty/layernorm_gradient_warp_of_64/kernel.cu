// Layer norm; gradients of weight and bias by blocks of 32 columns and 8 rows.
#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void fwd(const T* x, const T* w, const T* b, T* y, float* mean, float* rstd, int cols, float eps) {
  const long long r = blockIdx.x;
  x += r * cols;
  y += r * cols;
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) s += (float)x[c];
  const float m = block_reduce(s, Sum()) / cols;
  float q = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float d = (float)x[c] - m;
    q += d * d;
  }
  const float rs = 1.0f / sqrtf(block_reduce(q, Sum()) / cols + eps);
  if (threadIdx.x == 0) {
    mean[r] = m;
    rstd[r] = rs;
  }
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[c] = (T)(((float)x[c] - m) * rs * (float)w[c] + (float)b[c]);
}
template <class T>
__global__ void bwd_w(const T* gy, const T* x, const float* mean, const float* rstd, T* gw, T* gb, int rows,
                      int cols) {
  __shared__ float sw[8][33], sb[8][33];
  const int c = blockIdx.x * 32 + threadIdx.x;
  const int at = c;
  float a = 0, d = 0;
  if (c < cols)
    for (int r = threadIdx.y; r < rows; r += 8) {
      const float g = (float)gy[(long long)r * cols + c];
      a += g * (((float)x[(long long)r * cols + (at < cols ? at : c)] - mean[r]) * rstd[r]);
      d += g;
    }
  sw[threadIdx.y][threadIdx.x] = a;
  sb[threadIdx.y][threadIdx.x] = d;
  __syncthreads();
  if (threadIdx.y == 0 && c < cols) {

    for (int k = 1; k < (blockDim.x * blockDim.y) / 64; ++k) {
      a += sw[k][threadIdx.x];
      d += sb[k][threadIdx.x];
    }
    gw[c] = (T)a;
    gb[c] = (T)d;
  }
}
template <class T>
__global__ void bwd_x(const T* gy, const T* x, const T* w, const float* mean, const float* rstd, T* gx,
                      int cols) {
  const long long r = blockIdx.x;
  x += r * cols;
  gy += r * cols;
  gx += r * cols;
  const float m = mean[r], rs = rstd[r];
  float a = 0, b = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float g = (float)gy[c] * (float)w[c];
    a += g;
    b += g * ((float)x[c] - m) * rs;
  }
  a = block_reduce(a, Sum()) / cols;
  b = block_reduce(b, Sum()) / cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    gx[c] = (T)(rs * ((float)gy[c] * (float)w[c] - a - ((float)x[c] - m) * rs * b));
}
