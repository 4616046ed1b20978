#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Symmetric int8 quantisation by rows: scale = max|x| / 127, q = x / scale rounded to the nearest integer.
// One block of 256 threads per row.

constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / 32;

__device__ float block_max(float v) {
  __shared__ float scratch[WARPS];
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, offset));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = scratch[0];
#pragma unroll
  for (int w = 1; w < WARPS; ++w) v = fmaxf(v, scratch[w]);
  return v;
}

template <typename T>
__global__ void __launch_bounds__(BLOCK) quantize_rows(const T* __restrict__ x, signed char* __restrict__ q,
                                                       float* __restrict__ scale_out, int cols) {
  const T* in = x + (size_t)blockIdx.x * cols;
  signed char* out = q + (size_t)blockIdx.x * cols;

  float largest = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) largest = fmaxf(largest, fabsf(static_cast<float>(in[c])));
  largest = block_max(largest);

  // Rows of tiny values are lifted by a power of two first, so that the quotient does not see a subnormal
  // scale.
  const float lift = largest < 1e-30f ? 18446744073709551616.0f : 1.0f;
  const float lifted_scale = largest * lift / 127.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    float level = 0.0f;
    if (largest > 0.0f) level = rintf(static_cast<float>(in[c]) * lift / lifted_scale);
    out[c] = (signed char)fminf(fmaxf(level, -127.0f), 127.0f);
  }
  if (threadIdx.x == 0) scale_out[blockIdx.x] = largest / 127.0f;
}
