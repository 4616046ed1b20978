// Rotary embedding of the queries and keys of each token, one block a token.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__device__ void rotate(const T* __restrict__ in, T* __restrict__ out, const float* __restrict__ row,
                       int heads, int head_dim) {
  const int half = head_dim / 2;
  for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
    const int head = i / half, d = i % half;
    const int first = head * head_dim + d;
    const int second = head * head_dim + d + half;
    const float a = static_cast<float>(in[first]), b = static_cast<float>(in[second]);
    const float* cosine = row;
    const float* sine = row + head_dim;
    out[first] = static_cast<T>(a * cosine[first % head_dim] - b * sine[first % head_dim]);
    out[second] = static_cast<T>(b * cosine[second % head_dim] + a * sine[second % head_dim]);
  }
}

template <class T>
__global__ void __launch_bounds__(128)
    rope(const T* __restrict__ q, const T* __restrict__ k, const float* __restrict__ cache,
         const int* __restrict__ positions, T* __restrict__ q_out, T* __restrict__ k_out, int q_heads,
         int k_heads, int head_dim, int max_position) {
  const size_t token = blockIdx.x;
  const float* row = cache + static_cast<size_t>(positions[token]) * 2 * head_dim;
  rotate(q + token * q_heads * head_dim, q_out + token * q_heads * head_dim, row, q_heads, head_dim);
  rotate(k + token * k_heads * head_dim, k_out + token * k_heads * head_dim, row, k_heads, head_dim);
}
