// Online, one warp a row, partial rows merged.
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ __forceinline__ float larger(float a, float b) {
  return a != a ? a : b != b ? b : fmaxf(a, b);
} // NaN wins

template <class T> __global__ void sm(const T* x, T* y, int cols) {
  const long long r = blockIdx.x;
  x += r * cols;
  y += r * cols;
  float m = -INFINITY, s = 0;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float v = (float)x[c];
    if (v > m || v != v) {
      s = s * (m == -INFINITY ? 0.f : expf(m - v)) + 1;
      m = v;
    } else
      s += m == -INFINITY ? 0.f : expf(v - m);
    if (m != m) s = m;
  }
  for (int o = 16; o; o >>= 1) {
    const float m2 = __shfl_xor_sync(0xffffffffu, m, o), s2 = __shfl_xor_sync(0xffffffffu, s, o);
    const float t = larger(m, m2);
    s = (m == -INFINITY ? 0.f : s * expf(m - t)) + (m2 == -INFINITY ? 0.f : s2 * expf(m2 - t));
    m = t;
  }
  const float inv = 1.f / s;
  for (int c = threadIdx.x; c < cols; c += 32) y[c] = (T)(expf((float)x[c] - m) * inv);
}
