#include <cuda_bf16.h>
#include <cuda_fp16.h>

// log(sum(exp(x))) of every row, in two kernels. Each row is cut into up to 16 splits; the first kernel
// leaves a maximum and a sum relative to it for every split, the second merges the splits of a row in a tree
// in shared memory.

constexpr int BLOCK = 128;
constexpr int WARPS = BLOCK / 32;
constexpr int SLOTS = 16;
constexpr unsigned FULL = 0xffffffffu;

__device__ __forceinline__ float neg_inf() { return __int_as_float(0xff800000); }

// Exponents are taken relative to the maximum where that is finite.
__device__ __forceinline__ float origin_of(float max) {
  return fabsf(max) == __int_as_float(0x7f800000) ? 0.0f : max;
}

template <typename T>
__global__ void logsumexp_split(const T* __restrict__ x, float* __restrict__ split_max,
                                float* __restrict__ split_sum, int cols, int splits, int chunk) {
  __shared__ float scratch[WARPS];
  const int split = blockIdx.x;
  const int row = blockIdx.y;
  const int first = split * chunk;
  const int last = min(cols, first + chunk);
  const T* in = x + (size_t)row * cols;

  float m = neg_inf();
  for (int c = first + threadIdx.x; c < last; c += BLOCK) m = fmaxf(m, static_cast<float>(in[c]));
  for (int offset = 16; offset > 0; offset >>= 1) m = fmaxf(m, __shfl_xor_sync(FULL, m, offset));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = m;
  __syncthreads();
  for (int w = 0; w < WARPS; ++w) m = fmaxf(m, scratch[w]);
  __syncthreads();

  const float origin = origin_of(m);
  float sum = 0.0f;
  for (int c = first + threadIdx.x; c < last; c += BLOCK) sum += expf(static_cast<float>(in[c]) - origin);
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(FULL, sum, offset);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0.0f;
    for (int w = 0; w < WARPS; ++w) sum += scratch[w];
    split_max[row * splits + split] = m;
    split_sum[row * splits + split] = sum;
  }
}

template <typename T>
__global__ void logsumexp_combine(const float* __restrict__ split_max, const float* __restrict__ split_sum,
                                  T* __restrict__ y, int splits) {
  __shared__ float maxima[SLOTS];
  __shared__ float sums[SLOTS];
  const int row = blockIdx.x;
  const int slot = threadIdx.x;

  if (slot < SLOTS) {
    maxima[slot] = slot < splits ? split_max[row * splits + slot] : neg_inf();
    sums[slot] = slot < splits ? split_sum[row * splits + slot] : 0.0f;
  }
  __syncthreads();

  for (int half = SLOTS / 2; half > 0; half /= 2) {
    if (slot < half) {
      const float m = fmaxf(maxima[slot], maxima[slot + half]);
      const float origin = origin_of(m);
      const float mine = sums[slot] * expf(maxima[slot] - origin);
      sums[slot] = mine + sums[slot + half] * expf(maxima[slot + half] - origin);
      maxima[slot] = m;
    }
    __syncthreads();
  }
  if (slot == 0) y[row] = static_cast<T>(origin_of(maxima[0]) + logf(sums[0]));
}
