#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// A warp a row, the row in registers.
constexpr int most = 16;

template <class T> __global__ void forward(const T* x, T* y, int cols) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  float e[most], largest = Max::identity(), sum = 0.0f;
  for (int i = 0; i < most; ++i) {
    const int c = threadIdx.x + 32 * i;
    e[i] = c < cols ? static_cast<float>(x[base + c]) : Max::identity();
    largest = fmaxf(largest, e[i]);
  }
  largest = warp_reduce(largest, Max());
  for (int i = 0; i < most; ++i)
    if (threadIdx.x + 32 * i < cols) sum += e[i] = expf(e[i] - largest);
  sum = warp_reduce(sum, Sum());
  for (int i = 0; i < most; ++i)
    if (threadIdx.x + 32 * i < cols) y[base + threadIdx.x + 32 * i] = static_cast<T>(e[i] / sum);
}

template <class T> __global__ void backward(const T* g, const T* y, T* d, int cols) {
  const size_t base = static_cast<size_t>(blockIdx.x) * cols;
  float product[most], p[most], dot = 0.0f;
  for (int i = 0; i < most; ++i) {
    const int c = threadIdx.x + 32 * i;
    p[i] = c < cols ? static_cast<float>(y[base + c]) : 0.0f;
    product[i] = c < cols ? static_cast<float>(g[base + c]) * p[i] : 0.0f;
    dot += product[i];
  }
  dot = warp_reduce(dot, Sum());
  for (int i = 0; i < most; ++i)
    if (threadIdx.x + 32 * i < cols) d[base + threadIdx.x + 32 * i] = static_cast<T>(product[i] - p[i] * dot);
}
