#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void row_mean(const T* __restrict__ x, T* __restrict__ y, int rows, int cols) {
  __shared__ float partial[4];
  __shared__ float result;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float total = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 128)
      total += static_cast<float>(x[static_cast<size_t>(row) * cols + c]);
    for (int d = 16; d > 0; d /= 2) total += __shfl_down_sync(0xffffffffu, total, d);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x == 0) result = ((partial[0] + partial[1]) + (partial[2] + partial[3])) / cols;
    __syncthreads();
    if (threadIdx.x == 1) y[row] = static_cast<T>(result);
  }
}
