// Masked softmax, one block a row.
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

template <class T> __global__ void ms(const T* x, const unsigned char* k, T* y, int cols) {
  const long long r = blockIdx.x;
  x += r * cols;
  k += r * cols;
  y += r * cols;
  float m = -INFINITY, any = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    m = larger(m, (float)x[c]);
    any += k[c];
  }
  m = block_max(m);
  any = block_sum(any);
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    if (k[c]) s += expf((float)x[c] - m);
  s = block_sum(s);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[c] = (T)(k[c] ? expf((float)x[c] - m) / s : 0.f);
}
