#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Row maximum. One block of 256 threads per row, four independent maxima a thread to keep loads in flight.

constexpr int BLOCK = 256;

__device__ __forceinline__ float larger(float a, float b) { return a > b || a != a ? a : b; }

template <typename T> __global__ void row_max(const T* __restrict__ x, T* __restrict__ y, int cols) {
  __shared__ float scratch[BLOCK / 32];
  const int tid = threadIdx.x;
  const T* in = x + (size_t)blockIdx.x * cols;

  float m[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) m[i] = __int_as_float(0xff800000);

  int c = tid;
  for (; c + 3 * BLOCK < cols; c += 4 * BLOCK) {
#pragma unroll
    for (int i = 0; i < 4; ++i) m[i] = larger(m[i], static_cast<float>(in[c + i * BLOCK]));
  }
  for (; c < cols; c += BLOCK) m[0] = larger(m[0], static_cast<float>(in[c]));

  float v = larger(larger(m[0], m[1]), larger(m[2], m[3]));
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v = larger(v, __shfl_xor_sync(0xffffffffu, v, offset));
  if (tid % 32 == 0) scratch[tid / 32] = v;
  __syncthreads();
  if (tid == 0) {
    for (int w = 1; w < BLOCK / 32; ++w) v = larger(v, scratch[w]);
    y[blockIdx.x] = static_cast<T>(v);
  }
}
