// As FlashAttention-2 has it: sums not yet scaled, exp2 of score * c - maximum * c by one fused multiply-add,
// one division at the end. A warp a query, a lane a key of the tile.
#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int tile = 32, most = 4; // elements of the output a lane

template <class T>
__global__ void attention(const T* q, const T* k, const T* v, T* out, int q_len, int kv_len, int d,
                          int causal) {
  const int row = blockIdx.x, lane = threadIdx.x;
  const size_t head = blockIdx.y;
  const T* query = q + (head * q_len + row) * d;
  const float c = rsqrtf(static_cast<float>(d)) * 1.44269504f;
  const int seen = causal ? min(kv_len, max(0, row + 1 + kv_len - q_len)) : kv_len;
  float largest = Max::identity(), total = 0.0f, output[most] = {};
  for (int first = 0; first < seen; first += tile) {
    const int n = min(tile, seen - first);
    float score = Max::identity();
    if (lane < n) {
      score = 0.0f;
      for (int i = 0; i < d; ++i)
        score += static_cast<float>(query[i]) * static_cast<float>(k[(head * kv_len + first + lane) * d + i]);
    }
    const float top = fmaxf(largest, warp_reduce(score, Max()));
    const float before = exp2f((largest - top) * c);
    const float weight = exp2f(fmaf(score, c, -(top * c)));
    total = total * before + warp_reduce(weight, Sum());
    for (int a = 0; a < most; ++a) output[a] *= before;
    for (int t = 0; t < n; ++t) {
      const float w = __shfl_sync(all_lanes, weight, t);
      for (int a = 0; a < most; ++a)
        if (lane + 32 * a < d)
          output[a] += w * static_cast<float>(v[(head * kv_len + first + t) * d + lane + 32 * a]);
    }
    largest = top;
  }
  for (int a = 0; a < most; ++a)
    if (lane + 32 * a < d)
      out[(head * q_len + row) * d + lane + 32 * a] = static_cast<T>(seen > 0 ? output[a] / total : 0.0f);
}
