#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Layer norm, forward. A fixed number of blocks walks over the rows.

constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / 32;
constexpr unsigned FULL = 0xffffffffu;

__device__ float block_sum(float v, float* scratch) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(FULL, v, offset);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  float total = 0.0f;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) total += scratch[w];
  __syncthreads();
  return total;
}

template <typename T>
__global__ void __launch_bounds__(BLOCK)
    layernorm_forward(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
                      T* __restrict__ y, float* __restrict__ mean_out, float* __restrict__ rstd_out, int rows,
                      int cols, float eps) {
  __shared__ float scratch[WARPS];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* in = x + (size_t)row * cols;
    T* out = y + (size_t)row * cols;

    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) sum += static_cast<float>(in[c]);
    const float mean = block_sum(sum, scratch) / cols;

    float squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
      const float d = static_cast<float>(in[c]) - mean;
      squares += d * d;
    }
    const float rstd = 1.0f / sqrtf(block_sum(squares, scratch) / cols + eps);

    for (int c = threadIdx.x; c < cols; c += BLOCK) {
      const float normal = (static_cast<float>(in[c]) - mean) * rstd;
      out[c] = static_cast<T>(normal * static_cast<float>(weight[c]) + static_cast<float>(bias[c]));
    }
    if (threadIdx.x == 0) {
      mean_out[row] = mean;
      rstd_out[row] = rstd;
    }
  }
}
