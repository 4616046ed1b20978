#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void row_max(const T* __restrict__ x, T* __restrict__ y, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const T* in = x + static_cast<size_t>(row) * cols;
  float best = -INFINITY;
  bool nan = false;
  for (int c = lane; c < cols; c += 32) {
    const float v = static_cast<float>(in[c]);
    nan = nan || isnan(v);
    best = fmaxf(best, v);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, offset));
    nan = __shfl_xor_sync(0xffffffffu, nan, offset) || nan;
  }
  if (lane == 0) y[row] = nan ? static_cast<T>(NAN) : static_cast<T>(best);
}
