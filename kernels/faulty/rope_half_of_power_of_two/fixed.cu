#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __device__ void rotate(const T* in, T* out, const float* cache, int head_dim, bool back) {
  const int half = head_dim / 2;
  for (int i = threadIdx.x; i < half; i += blockDim.x) {
    const float a = static_cast<float>(in[i]), b = static_cast<float>(in[i + half]);
    const float c0 = cache[i], c1 = cache[i + half], s0 = cache[head_dim + i],
                s1 = cache[head_dim + i + half];
    if (back) {
      out[i] = static_cast<T>(a * c0 + b * s1);
      out[i + half] = static_cast<T>(b * c1 - a * s0);
    } else {
      out[i] = static_cast<T>(a * c0 - b * s0);
      out[i + half] = static_cast<T>(b * c1 + a * s1);
    }
  }
}
template <class T, bool back>
__global__ void rope(const T* __restrict__ q, const T* __restrict__ k, const float* __restrict__ cache,
                     const int* __restrict__ positions, T* __restrict__ q_out, T* __restrict__ k_out,
                     int q_heads, int k_heads, int head_dim) {
  const int token = blockIdx.x, head = blockIdx.y;
  const float* row = cache + static_cast<size_t>(positions[token]) * 2 * head_dim;
  if (head < q_heads) {
    const size_t at = (static_cast<size_t>(token) * q_heads + head) * head_dim;
    rotate(q + at, q_out + at, row, head_dim, back);
  } else {
    const size_t at = (static_cast<size_t>(token) * k_heads + head - q_heads) * head_dim;
    rotate(k + at, k_out + at, row, head_dim, back);
  }
}
