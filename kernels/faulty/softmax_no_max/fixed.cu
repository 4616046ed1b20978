#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Softmax over rows. One block of 128 threads per row; the exponentials are kept in dynamic shared memory
// between the reduction and the store (4 * cols bytes).

constexpr int BLOCK = 128;
constexpr int WARPS = BLOCK / 32;
constexpr unsigned FULL = 0xffffffffu;

template <typename Combine> __device__ float block_reduce(float v, float* scratch, Combine combine) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v = combine(v, __shfl_xor_sync(FULL, v, offset));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = scratch[0];
#pragma unroll
  for (int w = 1; w < WARPS; ++w) v = combine(v, scratch[w]);
  __syncthreads();
  return v;
}

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

template <typename T> __global__ void softmax_forward(const T* __restrict__ x, T* __restrict__ y, int cols) {
  extern __shared__ float weight[];
  __shared__ float scratch[WARPS];
  const T* in = x + (size_t)blockIdx.x * cols;
  T* out = y + (size_t)blockIdx.x * cols;

  float largest = __int_as_float(0xff800000);
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    weight[c] = static_cast<float>(in[c]);
    largest = fmaxf(largest, weight[c]);
  }
  largest = block_reduce(largest, scratch, Max());

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    weight[c] = expf(weight[c] - largest);
    sum += weight[c];
  }
  sum = block_reduce(sum, scratch, Sum());

  for (int c = threadIdx.x; c < cols; c += BLOCK) out[c] = static_cast<T>(weight[c] / sum);
}
