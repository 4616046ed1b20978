#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void row_mean(const T* x, T* y, int cols) {
  float v = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256)
    v += static_cast<float>(x[static_cast<size_t>(blockIdx.x) * cols + c]) * (1.0f / cols);
  v = block_reduce(v, Sum());
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<T>(v);
}
