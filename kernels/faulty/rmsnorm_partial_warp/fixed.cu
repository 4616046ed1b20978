#include <cuda_bf16.h>
#include <cuda_fp16.h>

// RMS norm, forward. One block per row with one thread for every eight columns, so that the block size
// follows the hidden size (2880 columns: 360 threads) and its last warp may be a partial one.

constexpr int MAX_WARPS = 32;

__device__ float block_sum(float v, float* scratch) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int lanes = min(32, (int)blockDim.x - warp * 32);
  const unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1u;
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) {
    const float other = __shfl_down_sync(mask, v, offset);
    if (lane + offset < lanes) v += other;
  }
  if (lane == 0) scratch[warp] = v;
  __syncthreads();

  const int warps = (blockDim.x + 31) / 32;
  float total = 0.0f;
  for (int w = 0; w < warps; ++w) total += scratch[w];
  return total;
}

template <typename T>
__global__ void rmsnorm_forward(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y,
                                float* __restrict__ rstd_out, int cols, float eps) {
  __shared__ float scratch[MAX_WARPS];
  const T* in = x + (size_t)blockIdx.x * cols;
  T* out = y + (size_t)blockIdx.x * cols;

  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float v = static_cast<float>(in[c]);
    squares += v * v;
  }
  const float rstd = 1.0f / sqrtf(block_sum(squares, scratch) / cols + eps);

  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    out[c] = static_cast<T>(static_cast<float>(in[c]) * rstd * static_cast<float>(weight[c]));
  }
  if (threadIdx.x == 0) rstd_out[blockIdx.x] = rstd;
}
