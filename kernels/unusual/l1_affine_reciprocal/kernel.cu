#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void l1_affine(const T* x, const T* weight, const T* bias, T* y, int cols, float eps) {
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float size = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) size += fabsf(static_cast<float>(x[c]));
  const float inverse = 1.0f / fmaxf(warp_reduce(size, Sum()), eps);
  for (int c = threadIdx.x; c < cols; c += 32)
    y[c] = static_cast<T>(
        fmaf(static_cast<float>(x[c]) * inverse, static_cast<float>(weight[c]), static_cast<float>(bias[c])));
}
