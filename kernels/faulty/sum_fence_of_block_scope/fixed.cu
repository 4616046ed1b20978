#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void row_sum(const T* __restrict__ x, T* __restrict__ y, float* partial, int* done, int cols,
                        int blocks) {
  __shared__ bool last;
  float v = 0.0f;
  for (int c = blockIdx.x * 64 + threadIdx.x; c < cols; c += blocks * 64)
    v += static_cast<float>(x[static_cast<size_t>(blockIdx.y) * cols + c]);
  v = block_reduce(v, Sum());
  if (threadIdx.x == 0) {
    partial[blockIdx.y * blocks + blockIdx.x] = v;
    __threadfence();
    last = atomicAdd(done + blockIdx.y, 1) == blocks - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float total = 0.0f;
    for (int b = 0; b < blocks; ++b) total += static_cast<volatile float*>(partial)[blockIdx.y * blocks + b];
    y[blockIdx.y] = static_cast<T>(total);
  }
}
