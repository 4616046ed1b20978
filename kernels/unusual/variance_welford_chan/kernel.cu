// Welford's updates, merged pairwise over a warp.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void var(const T* x, T* y, int cols) {
  const long long r = blockIdx.x;
  x += r * cols;
  float m = 0, q = 0, n = 0;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float v = (float)x[c];
    n += 1;
    const float d = v - m;
    m += d / n;
    q += d * (v - m);
  }
  for (int o = 1; o < 32; o *= 2) {
    const float m2 = __shfl_xor_sync(0xffffffffu, m, o), q2 = __shfl_xor_sync(0xffffffffu, q, o),
                n2 = __shfl_xor_sync(0xffffffffu, n, o);
    const float t = n + n2;
    if (t > 0) {
      const float d = m2 - m;
      q += q2 + d * d * (n * n2 / t);
      m = m + d * (n2 / t);
      n = t;
    }
  }
  q = __shfl_sync(0xffffffffu, q, 0);
  if (threadIdx.x == 0) y[r] = (T)(q / cols);
}
