#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Softmax over wide rows. One warp per row, four rows per block. Every lane keeps a running maximum and a
// running sum over its share of the row (online softmax), lanes are merged pairwise, and a second sweep
// writes the result.

constexpr int WARPS = 4;
constexpr unsigned FULL = 0xffffffffu;

// sum is relative to max: the partial row contributes sum * exp(max).
struct Partial {
  float max;
  float sum;
};

__device__ __forceinline__ Partial merge(Partial a, Partial b) {
  Partial r;
  r.max = fmaxf(a.max, b.max);
  r.sum = a.sum * expf(a.max - r.max) + b.sum * expf(b.max - r.max);
  return r;
}

template <typename T>
__global__ void softmax_forward(const T* __restrict__ x, T* __restrict__ y, int rows, int cols) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * WARPS + threadIdx.x / 32;
  if (row >= rows) return;
  const T* in = x + (size_t)row * cols;
  T* out = y + (size_t)row * cols;

  // A lane past the end of a narrow row starts at the last column with nothing in its sum.
  Partial state;
  state.max = static_cast<float>(in[min(lane, cols - 1)]);
  state.sum = lane < cols ? 1.0f : 0.0f;
  for (int c = lane + 32; c < cols; c += 32) {
    Partial next;
    next.max = static_cast<float>(in[c]);
    next.sum = 1.0f;
    state = merge(state, next);
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) {
    Partial other;
    other.max = __shfl_xor_sync(FULL, state.max, offset);
    other.sum = __shfl_xor_sync(FULL, state.sum, offset);
    state = merge(state, other);
  }

  for (int c = lane; c < cols; c += 32) {
    out[c] = static_cast<T>(expf(static_cast<float>(in[c]) - state.max) / state.sum);
  }
}
