// Row sums: a row is cut into chunks of 256 elements, one block a chunk; the chunks' sums are added up in
// their order.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int CHUNK = 256;

template <class T>
__global__ void __launch_bounds__(CHUNK) add_chunks(const T* __restrict__ x, float* part, int cols) {
  const int c = blockIdx.x * CHUNK + threadIdx.x;
  const float v = c < cols ? static_cast<float>(x[static_cast<size_t>(blockIdx.y) * cols + c]) : 0.0f;
  const float sum = block_reduce(v, Sum());
  if (threadIdx.x == 0) part[static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x] = sum;
}

template <class T> __global__ void store(const float* part, T* __restrict__ y, int rows, int chunks) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float total = 0.0f;
  for (int k = 0; k < chunks; ++k) total += part[static_cast<size_t>(row) * chunks + k];
  y[row] = static_cast<T>(total);
}
