// y = (x - max) - log(sum(exp(x - max))) of each row, one block a row.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(256) log_softmax(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;
  float largest = Max::identity();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) largest = fmaxf(largest, static_cast<float>(in[c]));
  largest = block_reduce(largest, Max());
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(static_cast<float>(in[c]) - largest);
  sum = block_reduce(sum, Sum());
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = static_cast<T>(logf(expf(static_cast<float>(in[c]) - largest) / sum));
}
