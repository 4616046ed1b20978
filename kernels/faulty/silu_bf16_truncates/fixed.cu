#include <cuda_bf16.h>
#include <cuda_fp16.h>

// y = x / (1 + exp(-x)) in float32 for the 16-bit types. Each thread takes four neighbouring elements.

constexpr int ITEMS = 4;

__device__ __forceinline__ void store(__half* p, float v) { *p = __float2half_rn(v); }

__device__ __forceinline__ void store(__nv_bfloat16* p, float v) { *p = __float2bfloat16_rn(v); }

// The exponential is at most 1 for both signs, so that it never overflows.
__device__ __forceinline__ float silu(float x) {
  const float e = expf(-fabsf(x));
  return (x >= 0.0f ? x : x * e) / (1.0f + e);
}

template <typename T> __global__ void silu_forward(const T* __restrict__ x, T* __restrict__ y, int n) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    if (first + i < n) store(&y[first + i], silu(static_cast<float>(x[first + i])));
  }
}
