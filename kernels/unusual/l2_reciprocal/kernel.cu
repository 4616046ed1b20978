#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void l2_normalize(const T* x, T* y, int cols, float eps) {
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float v = static_cast<float>(x[c]);
    squares += v * v;
  }
  const float norm = sqrtf(warp_reduce(squares, Sum()));
  const float inverse = 1.0f / (norm < eps ? eps : norm); // a NaN of the norm stays
  for (int c = threadIdx.x; c < cols; c += 32) y[c] = static_cast<T>(static_cast<float>(x[c]) * inverse);
}
