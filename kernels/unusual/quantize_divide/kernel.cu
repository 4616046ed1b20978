#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void quantize(const T* x, signed char* q, float* scale, int cols) {
  float m = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32)
    m = fmaxf(m, fabsf(static_cast<float>(x[static_cast<size_t>(blockIdx.x) * cols + c])));
  for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  const float s = m / 127.0f;
  if (threadIdx.x == 0) scale[blockIdx.x] = s;
  for (int c = threadIdx.x; c < cols; c += 32)
    q[static_cast<size_t>(blockIdx.x) * cols + c] =
        s == 0.0f ? 0
                  : static_cast<signed char>(__float2int_rn(
                        static_cast<float>(x[static_cast<size_t>(blockIdx.x) * cols + c]) / s));
}
