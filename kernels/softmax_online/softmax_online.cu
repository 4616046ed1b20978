// Softmax over the rows of a matrix, one block a row, in two passes over it: the maximum and the sum of
// exponentials are found together, the sum rescaled whenever the maximum grows.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int max_warps = 32;

__device__ __forceinline__ float minus_infinity() { return __int_as_float(0xff800000); }

// exp(from - to). Where both are -inf nothing finite has been seen yet, and nothing is to be rescaled.
__device__ __forceinline__ float rescale(float from, float to) {
  return to == minus_infinity() && from == to ? 1.0f : expf(from - to);
}

// The maximum of some logits, and the sum of exp(logit - maximum) over them.
struct Running {
  float maximum = minus_infinity();
  float sum = 0.0f;

  __device__ void add(float logit) { merge(logit, 1.0f); }
  __device__ void merge(float other_maximum, float other_sum) {
    const float both = fmaxf(maximum, other_maximum);
    sum = sum * rescale(maximum, both) + other_sum * rescale(other_maximum, both);
    maximum = both;
  }
};

__device__ Running warp_merge(Running running) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1)
    running.merge(__shfl_xor_sync(all_lanes, running.maximum, offset),
                  __shfl_xor_sync(all_lanes, running.sum, offset));
  return running;
}

__device__ Running block_merge(Running running) {
  __shared__ float maximum[max_warps], sum[max_warps];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  running = warp_merge(running);
  if (lane == 0) {
    maximum[warp] = running.maximum;
    sum[warp] = running.sum;
  }
  __syncthreads();
  Running all;
  if (lane < blockDim.x / 32) all.merge(maximum[lane], sum[lane]);
  return warp_merge(all);
}

} // namespace

template <class T>
__global__ void __launch_bounds__(1024) softmax_online(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;

  Running row;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) row.add(static_cast<float>(in[c]));
  row = block_merge(row);

  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = static_cast<T>(expf(static_cast<float>(in[c]) - row.maximum) / row.sum);
}
