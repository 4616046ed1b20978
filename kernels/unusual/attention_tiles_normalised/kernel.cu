// The output is normalised after every tile of 8 keys, as FlashAttention-1 has it: a warp a query.
#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int tile = 8, most = 4; // elements of the output a lane

template <class T>
__global__ void attention(const T* q, const T* k, const T* v, T* out, int q_len, int kv_len, int d,
                          int causal) {
  extern __shared__ float query[];
  const int row = blockIdx.x, lane = threadIdx.x;
  const size_t head = blockIdx.y;
  const float scale = 1.0f / sqrtf(static_cast<float>(d));
  for (int i = lane; i < d; i += 32) query[i] = static_cast<float>(q[(head * q_len + row) * d + i]) * scale;
  __syncwarp();
  const int seen = causal ? min(kv_len, max(0, row + 1 + kv_len - q_len)) : kv_len;
  float largest = Max::identity(), total = 0.0f, output[most] = {};
  for (int first = 0; first < seen; first += tile) {
    const int n = min(tile, seen - first);
    float weight[tile], own = Max::identity(), sum = 0.0f, product[most] = {};
    for (int t = 0; t < n; ++t) {
      const T* key = k + (head * kv_len + first + t) * d;
      float part = 0.0f;
      for (int i = lane; i < d; i += 32) part += query[i] * static_cast<float>(key[i]);
      weight[t] = warp_reduce(part, Sum());
      own = fmaxf(own, weight[t]);
    }
    for (int t = 0; t < n; ++t) {
      const T* value = v + (head * kv_len + first + t) * d;
      const float p = expf(weight[t] - own);
      sum += p;
      for (int a = 0; a < most; ++a)
        if (lane + 32 * a < d) product[a] += p * static_cast<float>(value[lane + 32 * a]);
    }
    const float top = fmaxf(largest, own);
    const float before = expf(largest - top), now = expf(own - top);
    const float all = before * total + now * sum;
    for (int a = 0; a < most; ++a) output[a] = (total * before * output[a] + now * product[a]) / all;
    largest = top, total = all;
  }
  for (int a = 0; a < most; ++a)
    if (lane + 32 * a < d) out[(head * q_len + row) * d + lane + 32 * a] = static_cast<T>(output[a]);
}
