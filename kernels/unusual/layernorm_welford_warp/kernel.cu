#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void forward(const T* x, const T* w, const T* b, T* y, float* mean_out, float* rstd_out, int cols,
                        float eps) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  float n = 0.0f, mean = 0.0f, m2 = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    n += 1.0f;
    const float d = static_cast<float>(in[c]) - mean;
    mean += d / n;
    m2 = fmaf(d, static_cast<float>(in[c]) - mean, m2);
  }
  for (int o = 16; o > 0; o /= 2) {
    const float n2 = __shfl_xor_sync(~0u, n, o), mean2 = __shfl_xor_sync(~0u, mean, o),
                m22 = __shfl_xor_sync(~0u, m2, o);
    const float all = n + n2;
    if (all > 0.0f) {
      const float d = mean2 - mean;
      // both lanes of a pair compute the same
      mean = (threadIdx.x & o) ? mean2 + (-d) * (n / all) : mean + d * (n2 / all);
      m2 = m2 + m22 + d * d * (n * n2 / all);
    }
    n = all;
  }
  mean = __shfl_sync(~0u, mean, 0);
  m2 = __shfl_sync(~0u, m2, 0);
  const float rstd = 1.0f / sqrtf(m2 / cols + eps);
  for (int c = threadIdx.x; c < cols; c += 32)
    y[static_cast<size_t>(blockIdx.x) * cols + c] = static_cast<T>(
        fmaf((static_cast<float>(in[c]) - mean) * rstd, static_cast<float>(w[c]), static_cast<float>(b[c])));
  if (threadIdx.x == 0) mean_out[blockIdx.x] = mean, rstd_out[blockIdx.x] = rstd;
}
