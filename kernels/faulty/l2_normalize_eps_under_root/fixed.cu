// y = x / max(|x|, eps) of each row, one block a row.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(256)
    l2_normalize(const T* __restrict__ x, T* __restrict__ y, int cols, float eps) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float v = static_cast<float>(in[c]);
    squares += v * v;
  }
  const float root = sqrtf(block_reduce(squares, Sum()));
  const float norm = root < eps ? eps : root;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = static_cast<T>(static_cast<float>(in[c]) / norm);
}
