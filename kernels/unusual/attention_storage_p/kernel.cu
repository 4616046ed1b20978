#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void attention(const T* q, const T* k, const T* v, T* out, int q_len, int kv_len, int d,
                          int causal) {
  extern __shared__ float p[];
  const size_t head = blockIdx.y;
  const int row = blockIdx.x;
  const int seen = causal ? min(max(kv_len - q_len + row + 1, 0), kv_len) : kv_len;
  const float root = sqrtf(static_cast<float>(d));
  float m = -INFINITY;
  for (int j = threadIdx.x; j < seen; j += 64) {
    float s = 0.0f;
    for (int i = 0; i < d; ++i)
      s = fmaf(static_cast<float>(q[(head * q_len + row) * d + i]) / root,
               static_cast<float>(k[(head * kv_len + j) * d + i]), s);
    p[j] = s;
    m = fmaxf(m, s);
  }
  m = block_reduce(m, Max());
  float l = 0.0f;
  for (int j = threadIdx.x; j < seen; j += 64) l += p[j] = expf(p[j] - m);
  l = block_reduce(l, Sum());
  for (int j = threadIdx.x; j < seen; j += 64) p[j] = static_cast<float>(static_cast<T>(p[j] / l));
  __syncthreads();
  for (int i = threadIdx.x; i < d; i += 64) {
    float s = 0.0f;
    for (int j = 0; j < seen; ++j) s += p[j] * static_cast<float>(v[(head * kv_len + j) * d + i]);
    out[(head * q_len + row) * d + i] = static_cast<T>(s);
  }
}
