#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void row_variance(const T* x, T* y, int rows, int cols) {
  const int r = blockIdx.x * 32 + threadIdx.x;
  if (r >= rows) return;
  const T* in = x + static_cast<size_t>(r) * cols;
  float mean = 0.0f, m2 = 0.0f;
  for (int c = 0; c < cols; ++c) {
    const float d = static_cast<float>(in[c]) - mean;
    mean += d / (c + 1);
    m2 += d * (static_cast<float>(in[c]) - mean);
  }
  y[r] = static_cast<T>(m2 / cols);
}
