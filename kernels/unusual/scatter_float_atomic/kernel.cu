#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void scatter(const float* x, const int* index, float* y, int rows, int cols) {
  const int c = blockIdx.x * 32 + threadIdx.x;
  if (c < cols)
    atomicAdd(y + static_cast<size_t>(index[blockIdx.y]) * cols + c,
              x[static_cast<size_t>(blockIdx.y) * cols + c]);
}
