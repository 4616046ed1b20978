#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void lse(const T* x, T* y, int rows, int cols) {
  const int row = blockIdx.x * 2 + threadIdx.y;
  if (row >= rows) return;
  const T* in = x + static_cast<size_t>(row) * cols;
  float largest = -INFINITY, total = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float v = static_cast<float>(in[c]);
    const float l = fmaxf(largest, v);
    if (isnan(v))
      total = v;
    else if (l == INFINITY)
      total = total * (largest == INFINITY ? 1.0f
                       : isnan(total)      ? 1.0f
                                           : 0.0f) +
              (v == INFINITY ? 1.0f : 0.0f);
    else if (l > -INFINITY)
      total = total * expf(largest - l) + expf(v - l);
    largest = l;
  }
  for (int o = 16; o > 0; o /= 2) {
    const float l2 = __shfl_xor_sync(~0u, largest, o), t2 = __shfl_xor_sync(~0u, total, o);
    const float l = fmaxf(largest, l2);
    const float f1 = largest == l ? 1.0f : expf(largest - l), f2 = l2 == l ? 1.0f : expf(l2 - l);
    total = total * f1 + t2 * f2;
    largest = l;
  }
  if (threadIdx.x == 0)
    y[row] = static_cast<T>(isnan(total) ? total : isinf(largest) ? largest : largest + logf(total));
}
