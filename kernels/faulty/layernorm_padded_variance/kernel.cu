#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Layer norm, forward. One block per row. The row is padded to a power of two and kept in registers, up to
// MAX_ITEMS values a thread, so that it is read from memory once.

constexpr int MAX_ITEMS = 16;

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

// Every thread gets the sum. blockDim.x is a multiple of 32.
__device__ float block_sum(float v, float* scratch) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int warps = blockDim.x / 32;
  v = warp_sum(v);
  if (lane == 0) scratch[warp] = v;
  __syncthreads();
  v = warp_sum(lane < warps ? scratch[lane] : 0.0f);
  __syncthreads();
  return v;
}

template <typename T>
__global__ void layernorm_forward(const T* __restrict__ x, const T* __restrict__ weight,
                                  const T* __restrict__ bias, T* __restrict__ y, float* __restrict__ mean_out,
                                  float* __restrict__ rstd_out, int cols, int padded, float eps) {
  __shared__ float scratch[32];
  const T* in = x + (size_t)blockIdx.x * cols;
  T* out = y + (size_t)blockIdx.x * cols;
  const int items = padded / (int)blockDim.x;

  float value[MAX_ITEMS];
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < MAX_ITEMS; ++i) {
    const int c = threadIdx.x + i * blockDim.x;
    value[i] = i < items && c < cols ? static_cast<float>(in[c]) : 0.0f;
    sum += value[i];
  }
  const float mean = block_sum(sum, scratch) / cols;

  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < MAX_ITEMS; ++i) {
    if (i < items) {
      value[i] = value[i] - mean;
      squares += value[i] * value[i];
    }
  }
  const float rstd = 1.0f / sqrtf(block_sum(squares, scratch) / cols + eps);

#pragma unroll
  for (int i = 0; i < MAX_ITEMS; ++i) {
    const int c = threadIdx.x + i * blockDim.x;
    if (i < items && c < cols) {
      const float scaled = value[i] * rstd * static_cast<float>(weight[c]) + static_cast<float>(bias[c]);
      out[c] = static_cast<T>(scaled);
    }
  }
  if (threadIdx.x == 0) {
    mean_out[blockIdx.x] = mean;
    rstd_out[blockIdx.x] = rstd;
  }
}
