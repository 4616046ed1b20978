#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Population variance of every row, in two sweeps. One block of 256 threads per row; in rows of fewer than
// 256 columns the warps that have no column leave the sums to the others.

constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / 32;

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffffu, v, offset);
  return v;
}

template <typename T>
__global__ void __launch_bounds__(BLOCK) row_variance(const T* __restrict__ x, T* __restrict__ y, int cols) {
  __shared__ float sums[WARPS];
  __shared__ float squares[WARPS];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int working = min(WARPS, (cols + 31) / 32);
  const T* in = x + (size_t)blockIdx.x * cols;

  if (warp < working) {
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) sum += static_cast<float>(in[c]);
    sum = warp_sum(sum);
    if (lane == 0) sums[warp] = sum;
  }
  __syncthreads();
  if (warp < working) {
    float mean = 0.0f;
    for (int w = 0; w < working; ++w) mean += sums[w];
    mean /= cols;

    float square = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
      const float d = static_cast<float>(in[c]) - mean;
      square += d * d;
    }
    square = warp_sum(square);
    if (lane == 0) squares[warp] = square;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int w = 0; w < working; ++w) total += squares[w];
    y[blockIdx.x] = static_cast<T>(total / cols);
  }
}
