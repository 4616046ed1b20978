#include <cuda_bf16.h>
#include <cuda_fp16.h>

// RMS norm over the last dimension. x may be any strided view, such as the q or k part of a fused qkv tensor;
// y is packed. One block per row; strides are in elements.

constexpr int BLOCK = 256;

__device__ float block_sum(float v) {
  __shared__ float scratch[BLOCK / 32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
  if (lane == 0) scratch[warp] = v;
  __syncthreads();
  float total = 0.0f;
#pragma unroll
  for (int w = 0; w < BLOCK / 32; ++w) total += scratch[w];
  return total;
}

template <typename T>
__global__ void rmsnorm_forward(const T* __restrict__ x, long long row_stride, long long col_stride,
                                const T* __restrict__ weight, T* __restrict__ y, float* __restrict__ rstd_out,
                                int cols, float eps) {
  const long long row = blockIdx.x;

  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    const float v = static_cast<float>(x[row * row_stride + c * col_stride]);
    squares += v * v;
  }
  const float rstd = 1.0f / sqrtf(block_sum(squares) / cols + eps);

  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    const float v = static_cast<float>(x[row * cols + c * col_stride]);
    y[row * cols + c] = static_cast<T>(v * rstd * static_cast<float>(weight[c]));
  }
  if (threadIdx.x == 0) rstd_out[row] = rstd;
}
