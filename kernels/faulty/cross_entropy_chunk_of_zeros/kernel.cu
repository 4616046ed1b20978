// Cross entropy by chunks of 1024 classes.
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ __forceinline__ float larger(float a, float b) {
  return a != a ? a : b != b ? b : fmaxf(a, b);
} // NaN wins
__device__ __forceinline__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}
__device__ __forceinline__ float warp_max(float v) {
  for (int offset = 16; offset > 0; offset >>= 1) v = larger(v, __shfl_xor_sync(0xffffffffu, v, offset));
  return v;
}
__device__ float block_sum(float v) {
  __shared__ float partial[32];
  const int lane = threadIdx.x % 32;
  v = warp_sum(v);
  if (lane == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  v = warp_sum(lane < blockDim.x / 32 ? partial[lane] : 0.0f);
  __syncthreads();
  return v;
}
__device__ float block_max(float v) {
  __shared__ float partial[32];
  const int lane = threadIdx.x % 32;
  v = warp_max(v);
  if (lane == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  v = warp_max(lane < blockDim.x / 32 ? partial[lane] : -INFINITY);
  __syncthreads();
  return v;
}

template <class T> __global__ void lse(const T* x, float* part, int cols, int chunks) {
  const long long r = blockIdx.x;
  const int k = blockIdx.y;
  x += r * cols;
  float m = -INFINITY;
  float v[4];
  for (int i = 0; i < 4; ++i) {
    const int c = k * 1024 + i * 256 + threadIdx.x;
    v[i] = c < cols ? (float)x[c] : 0.0f;
    m = larger(m, v[i]);
  }
  m = block_max(m);
  float s = 0;
  for (int i = 0; i < 4; ++i) s += expf(v[i] - (m == -INFINITY ? 0.f : m));
  s = block_sum(s);
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
  for (int k = 0; k < chunks; ++k) m = larger(m, part[(r * chunks + k) * 2]);
  for (int k = 0; k < chunks; ++k) {
    const float pm = part[(r * chunks + k) * 2];
    s += part[(r * chunks + k) * 2 + 1] * expf(pm - m);
  }
  const int t = target[r];
  loss[r] = t == -100 ? 0.f : logf(s) - ((float)x[(long long)r * cols + t] - m);
}
