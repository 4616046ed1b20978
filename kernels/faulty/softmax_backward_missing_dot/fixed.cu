#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Softmax over rows with its gradient. One block of 256 threads per row. The forward pass saves the row
// maximum and the row sum in float32, from which the backward pass rebuilds the probabilities.

constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / 32;
constexpr unsigned FULL = 0xffffffffu;

__device__ __forceinline__ float warp_max(float v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v = fmaxf(v, __shfl_xor_sync(FULL, v, offset));
  return v;
}

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(FULL, v, offset);
  return v;
}

__device__ float block_max(float v, float* scratch) {
  v = warp_max(v);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = warp_max(scratch[threadIdx.x % WARPS]);
  __syncthreads();
  return v;
}

__device__ float block_sum(float v, float* scratch) {
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = warp_sum(threadIdx.x % 32 < WARPS ? scratch[threadIdx.x % 32] : 0.0f);
  __syncthreads();
  return v;
}

template <typename T>
__global__ void softmax_forward(const T* __restrict__ x, T* __restrict__ y, float* __restrict__ row_max,
                                float* __restrict__ row_sum, int cols) {
  __shared__ float scratch[WARPS];
  const T* in = x + (size_t)blockIdx.x * cols;
  T* out = y + (size_t)blockIdx.x * cols;

  float m = __int_as_float(0xff800000);
  for (int c = threadIdx.x; c < cols; c += BLOCK) m = fmaxf(m, static_cast<float>(in[c]));
  m = block_max(m, scratch);

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) sum += expf(static_cast<float>(in[c]) - m);
  sum = block_sum(sum, scratch);

  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    out[c] = static_cast<T>(expf(static_cast<float>(in[c]) - m) / sum);
  }
  if (threadIdx.x == 0) {
    row_max[blockIdx.x] = m;
    row_sum[blockIdx.x] = sum;
  }
}

template <typename T>
__global__ void softmax_backward(const T* __restrict__ grad_y, const T* __restrict__ x,
                                 const float* __restrict__ row_max, const float* __restrict__ row_sum,
                                 T* __restrict__ grad_x, int cols) {
  __shared__ float scratch[WARPS];
  const T* in = x + (size_t)blockIdx.x * cols;
  const T* upstream = grad_y + (size_t)blockIdx.x * cols;
  T* out = grad_x + (size_t)blockIdx.x * cols;
  const float m = row_max[blockIdx.x];
  const float sum = row_sum[blockIdx.x];

  float dot = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    dot += expf(static_cast<float>(in[c]) - m) / sum * static_cast<float>(upstream[c]);
  }
  dot = block_sum(dot, scratch);

  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    const float p = expf(static_cast<float>(in[c]) - m) / sum;
    out[c] = static_cast<T>(p * (static_cast<float>(upstream[c]) - dot));
  }
}
