#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Row sums. A block of 256 threads takes four rows at a time: all threads share the work on each row, every
// warp adds its part to the row's accumulator in shared memory, and four threads store the results.

constexpr int BLOCK = 256;
constexpr int ROWS_PER_BLOCK = 4;

template <typename T>
__global__ void __launch_bounds__(BLOCK)
    row_sum(const T* __restrict__ x, T* __restrict__ y, int rows, int cols) {
  __shared__ float total[ROWS_PER_BLOCK];
  const int tid = threadIdx.x;
  const int first = blockIdx.x * ROWS_PER_BLOCK;
  const int count = min(ROWS_PER_BLOCK, rows - first);

  if (tid < ROWS_PER_BLOCK) total[tid] = 0.0f;

  for (int r = 0; r < count; ++r) {
    const T* in = x + (size_t)(first + r) * cols;
    float part = 0.0f;
    for (int c = tid; c < cols; c += BLOCK) part += static_cast<float>(in[c]);
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) part += __shfl_down_sync(0xffffffffu, part, offset);
    if (tid % 32 == 0) atomicAdd(&total[r], part);
  }
  __syncthreads();

  if (tid < count) y[first + tid] = static_cast<T>(total[tid]);
}
