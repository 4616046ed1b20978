// Softmax of each row, one block a row; the sum takes four neighbouring elements a thread.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(256) softmax_forward(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;
  float largest = Max::identity();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) largest = fmaxf(largest, static_cast<float>(in[c]));
  largest = block_reduce(largest, Max());
  float sum = 0.0f;
  for (int first = 4 * threadIdx.x; first + 4 <= cols; first += 4 * blockDim.x)
    for (int c = first; c < min(first + 4, cols); ++c) sum += expf(static_cast<float>(in[c]) - largest);
  sum = block_reduce(sum, Sum());
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = static_cast<T>(expf(static_cast<float>(in[c]) - largest) / sum);
}
