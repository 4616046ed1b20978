#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void normalize(const T* __restrict__ x, T* __restrict__ y, int rows, int cols, float eps) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const size_t base = static_cast<size_t>(row) * cols;
  float squares = 0.0f;
  for (int c = lane; c < cols; c += 32)
    squares += static_cast<float>(x[base + c]) * static_cast<float>(x[base + c]);
  for (int d = 16; d > 0; d /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, d);
  const float norm = sqrtf(squares);
  const float divisor = fmaxf(norm, eps);
  for (int c = lane; c < cols; c += 32)
    y[base + c] = static_cast<T>(static_cast<float>(x[base + c]) / divisor);
}
