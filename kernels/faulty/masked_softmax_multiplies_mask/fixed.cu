#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void masked(const T* __restrict__ x, const unsigned char* __restrict__ mask, T* __restrict__ y,
                       int cols) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    if (mask[base + c]) largest = fmaxf(largest, static_cast<float>(x[base + c]));
  largest = block_reduce(largest, Max());
  float total = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    if (mask[base + c]) total += expf(static_cast<float>(x[base + c]) - largest);
  total = block_reduce(total, Sum());
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[base + c] =
        static_cast<T>(mask[base + c] ? expf(static_cast<float>(x[base + c]) - largest) / total : 0.0f);
}
