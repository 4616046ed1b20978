#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void attention(const T* q, const T* k, const T* v, T* out, int q_len, int kv_len, int d,
                          int causal) {
  const size_t head = blockIdx.y;
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= q_len) return;
  float acc[32];
  for (int i = 0; i < 32; ++i) acc[i] = 0.0f;
  float m = -INFINITY, l = 0.0f;
  const float scale = rsqrtf(static_cast<float>(d));
  const int seen = causal ? min(max(kv_len - q_len + row + 1, 0), kv_len) : kv_len;
  for (int j = 0; j < seen; ++j) {
    float s = 0.0f;
    for (int i = 0; i < d; ++i)
      s += static_cast<float>(q[(head * q_len + row) * d + i]) *
           static_cast<float>(k[(head * kv_len + j) * d + i]);
    s *= scale;
    const float now = fmaxf(m, s), r = expf(m - now), p = expf(s - now);
    l = l * r + p;
    for (int i = 0; i < d; ++i) acc[i] = acc[i] * r + p * static_cast<float>(v[(head * kv_len + j) * d + i]);
    m = now;
  }
  for (int i = 0; i < d; ++i) out[(head * q_len + row) * d + i] = static_cast<T>(seen ? acc[i] / l : 0.0f);
}
