#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void quantize(const T* __restrict__ x, signed char* __restrict__ q, float* __restrict__ scale,
                         int cols) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  float largest = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    largest = fmaxf(largest, fabsf(static_cast<float>(x[base + c])));
  largest = block_reduce(largest, Max());
  const float inverse = largest > 0.0f ? 127.0f / largest : 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    q[base + c] = static_cast<signed char>(rintf(static_cast<float>(x[base + c]) * inverse));
  if (threadIdx.x == 0) scale[blockIdx.x] = largest / 127.0f;
}
