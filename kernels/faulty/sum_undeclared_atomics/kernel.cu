// Row sums: a row is cut into chunks of 256 elements, one block a chunk, and the blocks add up in one float a
// row with atomics, in whatever order they come.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int CHUNK = 256;

template <class T>
__global__ void __launch_bounds__(CHUNK) add_chunks(const T* __restrict__ x, float* total, int cols) {
  const int c = blockIdx.x * CHUNK + threadIdx.x;
  const float v = c < cols ? static_cast<float>(x[static_cast<size_t>(blockIdx.y) * cols + c]) : 0.0f;
  const float sum = block_reduce(v, Sum());
  if (threadIdx.x == 0) atomicAdd(&total[blockIdx.y], sum);
}

template <class T> __global__ void store(const float* total, T* __restrict__ y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) y[row] = static_cast<T>(total[row]);
}
