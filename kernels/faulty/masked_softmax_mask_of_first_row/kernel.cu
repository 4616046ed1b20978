// Softmax over the kept entries of each row, one block a row; dropped entries give 0.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(256)
    masked_softmax(const T* __restrict__ x, const unsigned char* __restrict__ mask, T* __restrict__ y,
                   int cols) {
  const size_t first = static_cast<size_t>(blockIdx.x) * cols;
  const T* in = x + first;
  const unsigned char* keep = mask;
  T* out = y + first;

  float largest = Max::identity();
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    if (keep[c]) largest = fmaxf(largest, static_cast<float>(in[c]));
  largest = block_reduce(largest, Max());

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    if (keep[c]) sum += expf(static_cast<float>(in[c]) - largest);
  sum = block_reduce(sum, Sum());

  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = static_cast<T>(keep[c] ? expf(static_cast<float>(in[c]) - largest) / sum : 0.0f);
}
