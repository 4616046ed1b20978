#include <cuda_bf16.h>
#include <cuda_fp16.h>

// y = x / max(|x|_2, eps) for every row. One block of 256 threads per row. The squares are taken of x /
// max|x|, so that the norm neither overflows nor vanishes in float32.

constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / 32;
constexpr unsigned FULL = 0xffffffffu;

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// All threads get the result; 0 is neutral for both uses, as every value here is at least 0.
template <typename Combine> __device__ float block_reduce(float v, float* scratch, Combine combine) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v = combine(v, __shfl_xor_sync(FULL, v, offset));
  if (lane == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = lane < WARPS ? scratch[lane] : 0.0f;
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v = combine(v, __shfl_xor_sync(FULL, v, offset));
  __syncthreads();
  return v;
}

template <typename T>
__global__ void __launch_bounds__(BLOCK)
    l2_normalize(const T* __restrict__ x, T* __restrict__ y, int cols, float eps) {
  __shared__ float scratch[WARPS];
  const T* in = x + (size_t)blockIdx.x * cols;
  T* out = y + (size_t)blockIdx.x * cols;

  float largest = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) largest = fmaxf(largest, fabsf(static_cast<float>(in[c])));
  largest = block_reduce(largest, scratch, Max());
  const float unit = largest > 0.0f && largest < __int_as_float(0x7f800000) ? largest : 1.0f;

  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    const float v = static_cast<float>(in[c]) / unit;
    squares += v * v;
  }
  const float norm = unit * sqrtf(block_reduce(squares, scratch, Sum()));
  const float divisor = norm < eps ? eps : norm;

  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    out[c] = static_cast<T>(static_cast<float>(in[c]) / divisor);
  }
}
