// Four blocks a row; the last one adds up.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ __forceinline__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
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

template <class T> __global__ void sum(const T* x, T* y, float* part, int* count, int cols) {
  __shared__ bool last;
  const long long r = blockIdx.y;
  x += r * cols;
  float s = 0;
  for (int c = blockIdx.x * 128 + threadIdx.x; c < cols; c += 512) s += (float)x[c];
  s = block_sum(s);
  if (threadIdx.x == 0) {
    part[r * 4 + blockIdx.x] = s;
    last = atomicAdd(count + r, 1) == 3;
  }
  __syncthreads();
  if (!last || threadIdx.x) return;
  volatile float* p = part + r * 4;
  y[r] = (T)(p[0] + p[1] + p[2] + p[3]);
}
